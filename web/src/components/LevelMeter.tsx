import type { Sensor } from '../api/types'
import { levelText } from '../lib/sensor'

const QUIETEST = -80

/** What a microphone's level means; of a calibrated sensor only that it clips. */
function verdict(level: number, sensor: Sensor | null): string {
  if (level > -3) return sensor?.unit ? 'at full scale, clipping' : 'too loud, clipping'
  if (sensor?.unit) return ''
  return level > -60 ? 'good' : 'very quiet'
}

/** Level of the last second or measurement, in the unit of the sensor or against full scale. */
export function LevelMeter({ level, sensor }: { level: number | null; sensor: Sensor | null }) {
  if (level === null) return <span>no sound</span>
  const share = Math.min(100, Math.max(0, 100 * (1 - level / QUIETEST)))
  const text = [levelText(level, sensor), verdict(level, sensor)].filter(Boolean).join(', ')
  return (
    <span className="level">
      <span
        className="bar"
        role="meter"
        aria-label="Level"
        aria-valuemin={QUIETEST}
        aria-valuemax={0}
        aria-valuenow={Math.round(Math.max(QUIETEST, level))}
        aria-valuetext={text}
      >
        <span className="fill" style={{ width: `${share}%` }} />
      </span>
      {text}
    </span>
  )
}
