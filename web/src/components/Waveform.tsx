import { useEffect, useRef, useState } from 'react'
import WaveSurfer from 'wavesurfer.js'
import RegionsPlugin, { type Region } from 'wavesurfer.js/plugins/regions'
import { colour, useTheme } from '../lib/theme'
import { WAVEFORM_STYLE } from './waveformStyle'

export interface Selection {
  begin: number
  end: number
}

interface Props {
  src: string
  label: string
  rate: number
  isLooping: boolean
  selection: Selection | null
  onSelect: (selection: Selection | null) => void
  onTime: (time: number, duration: number) => void
  /** Hz at which it is decoded. */
  sampleRate: number
  onPlaying: (isPlaying: boolean) => void
  onError: () => void
  onReady: (player: WaveSurfer) => void
}

function adoptStyle(player: WaveSurfer): void {
  const root = player.getWrapper().getRootNode()
  if (!(root instanceof ShadowRoot)) return
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(WAVEFORM_STYLE)
  root.adoptedStyleSheets = [sheet]
}

/** The waveform of a recording; dragging selects a part of it. */
export function Waveform(props: Props) {
  const { src, label, rate, sampleRate, selection } = props
  const holder = useRef<HTMLDivElement>(null)
  const latest = useRef(props)
  const region = useRef<Region | null>(null)
  const regions = useRef<ReturnType<typeof RegionsPlugin.create> | null>(null)
  const [player, setPlayer] = useState<WaveSurfer | null>(null)
  const theme = useTheme()
  useEffect(() => {
    latest.current = props
  })

  useEffect(() => {
    if (!holder.current) return
    const plugin = RegionsPlugin.create()
    const wave = WaveSurfer.create({
      container: holder.current,
      height: 72,
      waveColor: colour('wave'),
      progressColor: colour('series'),
      cursorColor: colour('text'),
      cursorWidth: 2,
      normalize: true,
      // Spectra are computed from this.
      sampleRate,
      plugins: [plugin],
    })
    adoptStyle(wave)
    regions.current = plugin
    plugin.enableDragSelection({ color: colour('selection'), minLength: 0.2 })
    plugin.on('region-created', (created) => {
      if (region.current && region.current !== created) region.current.remove()
      region.current = created
      latest.current.onSelect({ begin: created.start, end: created.end })
    })
    plugin.on('region-updated', (updated) => latest.current.onSelect({ begin: updated.start, end: updated.end }))
    wave.on('timeupdate', (time) => {
      const { isLooping, selection: selected, onTime } = latest.current
      if (isLooping && selected && wave.isPlaying() && (time >= selected.end || time < selected.begin - 0.1))
        wave.setTime(selected.begin)
      onTime(time, wave.getDuration())
    })
    wave.on('play', () => latest.current.onPlaying(true))
    wave.on('pause', () => latest.current.onPlaying(false))
    wave.on('finish', () => {
      if (latest.current.isLooping) void wave.play(latest.current.selection?.begin ?? 0)
      else latest.current.onPlaying(false)
    })
    wave.on('ready', () => {
      latest.current.onReady(wave)
      setPlayer(wave)
    })
    wave.load(latest.current.src).catch((error: unknown) => {
      // Removed while it loads: not an error.
      if (!(error instanceof DOMException && error.name === 'AbortError'))
        latest.current.onError()
    })
    return () => {
      region.current = null
      setPlayer(null)
      wave.destroy()
    }
  }, [src, theme, sampleRate])

  useEffect(() => {
    player?.setPlaybackRate(rate, true)
  }, [player, rate])

  useEffect(() => {
    if (!player) return
    if (!selection) {
      region.current?.remove()
      region.current = null
    } else if (region.current) {
      region.current.setOptions({ start: selection.begin, end: selection.end })
    } else {
      regions.current?.addRegion({ start: selection.begin, end: selection.end, color: colour('selection') })
    }
  }, [player, selection])

  return <div ref={holder} className="waveform" role="img" aria-label={label} />
}
