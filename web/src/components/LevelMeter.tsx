import { decibel } from '../lib/numbers'

const QUIETEST = -80

function verdict(level: number): string {
  if (level > -3) return 'too loud, clipping'
  if (level > -60) return 'good'
  return 'very quiet'
}

/** Level of the last second, against full scale. */
export function LevelMeter({ level }: { level: number | null }) {
  if (level === null) return <span>no sound</span>
  const share = Math.min(100, Math.max(0, 100 * (1 - level / QUIETEST)))
  return (
    <span className="level">
      <span
        className="bar"
        role="meter"
        aria-label="Level"
        aria-valuemin={QUIETEST}
        aria-valuemax={0}
        aria-valuenow={Math.round(Math.max(QUIETEST, level))}
        aria-valuetext={`${decibel(level)}, ${verdict(level)}`}
      >
        <span className="fill" style={{ width: `${share}%` }} />
      </span>
      {decibel(level)}, {verdict(level)}
    </span>
  )
}
