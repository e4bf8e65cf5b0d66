import type { Thresholds } from '../api/types'
import { score } from '../lib/numbers'

/** The score against the thresholds. */
export function Gauge({ value, thresholds }: { value: number | null; thresholds: Thresholds | null }) {
  if (value === null || !thresholds) return null
  const top = Math.max(thresholds.alarm * 1.15, 1e-9)
  const share = (part: number) => `${Math.min(100, Math.max(0, (part / top) * 100))}%`
  const level = value >= thresholds.alarm ? 'alarm' : value >= thresholds.alert ? 'alert' : 'normal'
  return (
    <div className="gauge">
      <div
        className="bar"
        role="meter"
        aria-label="Score against the alarm threshold"
        aria-valuemin={0}
        aria-valuemax={Number(thresholds.alarm.toFixed(2))}
        aria-valuenow={Number(Math.min(Math.max(0, value), thresholds.alarm).toFixed(2))}
        aria-valuetext={`${score(value)}; alert from ${score(thresholds.alert)}, alarm from ${score(thresholds.alarm)}`}
      >
        <span className={`fill ${level}`} style={{ width: share(value) }} />
        <span className="tick alert" style={{ left: share(thresholds.alert) }} />
        <span className="tick alarm" style={{ left: share(thresholds.alarm) }} />
      </div>
      <dl className="figures">
        <div>
          <dt>Score</dt>
          <dd className="now">{score(value)}</dd>
        </div>
        <div>
          <dt>Alert</dt>
          <dd>{score(thresholds.alert)}</dd>
        </div>
        <div>
          <dt>Alarm</dt>
          <dd>{score(thresholds.alarm)}</dd>
        </div>
      </dl>
    </div>
  )
}
