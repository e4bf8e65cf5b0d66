import { useRef, useState } from 'react'
import type WaveSurfer from 'wavesurfer.js'
import { t } from '../i18n'
import { fixed } from '../lib/numbers'
import { useShortcut } from '../lib/shortcuts'
import { ErrorMessage } from './ErrorMessage'
import { Waveform, type Selection } from './Waveform'

interface Props {
  title: string
  src: string
  /** Hz at which it is decoded. */
  sampleRate: number
  /** Shown when there is no recording. */
  missing: string
  /** The key that plays and pauses, if any. */
  shortcut?: string
  onTime?: (time: number, duration: number) => void
  onReady?: (player: WaveSurfer) => void
}

const RATES: readonly [number, string][] = [
  [1, '1×'],
  [0.5, '½×'],
  [0.25, '¼×'],
]

/** Only one plays at a time: two are there to be compared. */
let playing: WaveSurfer | null = null

function Seconds({ label, value, onChange }: { label: string; value: number; onChange: (value: number) => void }) {
  return (
    <label className="inline">
      {label}{' '}
      <input
        type="number"
        min={0}
        step={0.1}
        value={value.toFixed(1)}
        onChange={(event) => onChange(Number(event.target.value))}
      />
    </label>
  )
}

export function Player({ title, src, sampleRate, missing, shortcut = '', onTime, onReady }: Props) {
  const player = useRef<WaveSurfer | null>(null)
  const [isPlaying, setPlaying] = useState(false)
  const [rate, setRate] = useState(1)
  const [isLooping, setLooping] = useState(true)
  const [selection, setSelection] = useState<Selection | null>(null)
  const [time, setTime] = useState<[number, number]>([0, 0])
  const [error, setError] = useState('')

  const toggle = () => {
    const current = player.current
    if (!current) return
    if (current.isPlaying()) current.pause()
    else void current.play().catch(() => setError(t('player.notAllowed')))
  }
  useShortcut(shortcut, shortcut ? toggle : null)
  if (error) return <ErrorMessage message={error} />
  return (
    <div className="player">
      <Waveform
        src={src}
        sampleRate={sampleRate}
        label={t('player.waveform', { title })}
        rate={rate}
        isLooping={isLooping}
        selection={selection}
        onSelect={setSelection}
        onError={() => setError(missing)}
        onTime={(at, duration) => {
          setTime([at, duration])
          onTime?.(at, duration)
        }}
        onPlaying={(isNowPlaying) => {
          setPlaying(isNowPlaying)
          if (!isNowPlaying) return
          if (playing && playing !== player.current) playing.pause()
          playing = player.current
        }}
        onReady={(ready) => {
          player.current = ready
          setTime([0, ready.getDuration()])
          onReady?.(ready)
        }}
      />
      <div className="buttons">
        <button type="button" className="main" disabled={!time[1]} onClick={toggle} aria-label={isPlaying ? t('player.pauseTitle', { title }) : t('player.playTitle', { title })}>
          {isPlaying ? `❚❚ ${t('player.pause')}` : `▶ ${t('player.play')}`}
        </button>
        <span className="clock">{t('player.time', { at: fixed(time[0], 1), length: fixed(time[1], 1) })}</span>
        <span className="group" role="group" aria-label={t('player.speed')}>
          {RATES.map(([value, name]) => (
            <button key={value} type="button" aria-pressed={rate === value} onClick={() => setRate(value)}>
              {name}
            </button>
          ))}
        </span>
        <label className="inline">
          <input type="checkbox" checked={isLooping} onChange={(event) => setLooping(event.target.checked)} /> {t('player.loop')}
        </label>
        {selection ? (
          <>
            <Seconds
              label={t('player.from')}
              value={selection.begin}
              onChange={(begin) => setSelection({ ...selection, begin: Math.min(begin, selection.end - 0.2) })}
            />
            <Seconds
              label={t('player.to')}
              value={selection.end}
              onChange={(end) => setSelection({ ...selection, end: Math.max(end, selection.begin + 0.2) })}
            />
            <button type="button" onClick={() => setSelection(null)}>
              {t('player.whole')}
            </button>
          </>
        ) : (
          <button
            type="button"
            disabled={!time[1]}
            onClick={() => setSelection({ begin: time[0], end: Math.min(time[1], time[0] + 2) })}
          >
            {t('player.select')}
          </button>
        )}
      </div>
    </div>
  )
}
