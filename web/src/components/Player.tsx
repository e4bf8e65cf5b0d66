import { useRef, useState } from 'react'
import type WaveSurfer from 'wavesurfer.js'
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
    else void current.play().catch(() => setError('The browser did not allow playback.'))
  }
  useShortcut(shortcut, shortcut ? toggle : null)
  if (error) return <ErrorMessage message={error} />
  return (
    <div className="player">
      <Waveform
        src={src}
        sampleRate={sampleRate}
        label={`Waveform: ${title}`}
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
        <button type="button" className="main" onClick={toggle} aria-label={`${isPlaying ? 'Pause' : 'Play'}: ${title}`}>
          {isPlaying ? '❚❚ Pause' : '▶ Play'}
        </button>
        <span className="clock">
          {time[0].toFixed(1)} / {time[1].toFixed(1)} s
        </span>
        <span className="group" role="group" aria-label="Speed, pitch kept">
          {RATES.map(([value, name]) => (
            <button key={value} type="button" aria-pressed={rate === value} onClick={() => setRate(value)}>
              {name}
            </button>
          ))}
        </span>
        <label className="inline">
          <input type="checkbox" checked={isLooping} onChange={(event) => setLooping(event.target.checked)} /> Loop
        </label>
        {selection ? (
          <>
            <Seconds
              label="from"
              value={selection.begin}
              onChange={(begin) => setSelection({ ...selection, begin: Math.min(begin, selection.end - 0.2) })}
            />
            <Seconds
              label="to"
              value={selection.end}
              onChange={(end) => setSelection({ ...selection, end: Math.max(end, selection.begin + 0.2) })}
            />
            <button type="button" onClick={() => setSelection(null)}>
              Whole recording
            </button>
          </>
        ) : (
          <button
            type="button"
            disabled={!time[1]}
            onClick={() => setSelection({ begin: time[0], end: Math.min(time[1], time[0] + 2) })}
          >
            Select 2 s here
          </button>
        )}
      </div>
    </div>
  )
}
