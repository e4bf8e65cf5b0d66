import type { MachineThresholds } from '../api/types'
import { score } from '../lib/numbers'

/** A score on its way to the limits. */
export function Gauge({ value, limits }: { value: number | null; limits: MachineThresholds | null }) {
  if (value === null || !limits) return null
  const top = Math.max(limits.alarm * 1.15, 1e-9)
  const share = (part: number) => `${Math.min(100, Math.max(0, (part / top) * 100))}%`
  const level = value >= limits.alarm ? 'alarm' : value >= limits.alert ? 'alert' : 'normal'
  return (
    <div className="gauge">
      <div
        className="bar"
        role="meter"
        aria-label="Score against the alarm limit"
        aria-valuemin={0}
        aria-valuemax={Number(limits.alarm.toFixed(2))}
        aria-valuenow={Number(Math.min(Math.max(0, value), limits.alarm).toFixed(2))}
        aria-valuetext={`${score(value)}; alert from ${score(limits.alert)}, alarm from ${score(limits.alarm)}`}
      >
        <span className={`fill ${level}`} style={{ width: share(value) }} />
        <span className="tick alert" style={{ left: share(limits.alert) }} />
        <span className="tick alarm" style={{ left: share(limits.alarm) }} />
      </div>
      <dl className="figures">
        <div>
          <dt>Score</dt>
          <dd className="now">{score(value)}</dd>
        </div>
        <div>
          <dt>Alert</dt>
          <dd>{score(limits.alert)}</dd>
        </div>
        <div>
          <dt>Alarm</dt>
          <dd>{score(limits.alarm)}</dd>
        </div>
      </dl>
    </div>
  )
}
