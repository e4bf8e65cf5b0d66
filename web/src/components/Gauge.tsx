import type { Thresholds } from '../api/types'
import { t } from '../i18n'
import { score } from '../lib/numbers'
import { scoreText } from '../lib/scores'
import { STATE_NAMES } from '../lib/states'
import { Score } from './Score'

/** The score on its way from the usual one, where the bar is empty, to the thresholds. */
export function Gauge({ value, thresholds }: { value: number | null; thresholds: Thresholds | null }) {
  if (value === null || !thresholds) return null
  const { usual_score: usual, alarm } = thresholds
  const length = Math.max(1.15 * (alarm - usual), 1e-9)
  const share = (part: number) => `${Math.min(100, Math.max(0, ((part - usual) / length) * 100))}%`
  const level = value >= alarm ? 'alarm' : value >= thresholds.alert ? 'alert' : 'normal'
  return (
    <div className="gauge">
      <div
        className="bar"
        role="meter"
        aria-label={t('machine.gauge.label')}
        aria-valuemin={Number(usual.toFixed(2))}
        aria-valuemax={Number(alarm.toFixed(2))}
        aria-valuenow={Number(Math.min(Math.max(usual, value), alarm).toFixed(2))}
        aria-valuetext={t('machine.gauge.value', {
          score: scoreText(value, thresholds),
          alert: score(thresholds.alert),
          alarm: score(alarm),
        })}
      >
        <span className={`fill ${level}`} style={{ width: share(value) }} />
        <span className="tick alert" style={{ left: share(thresholds.alert) }} />
        <span className="tick alarm" style={{ left: share(alarm) }} />
      </div>
      <dl className="figures">
        <div>
          <dt>{t('machine.gauge.score')}</dt>
          <dd className="now">
            <Score value={value} thresholds={thresholds} />
          </dd>
        </div>
        <div>
          <dt>{STATE_NAMES.alert}</dt>
          <dd>{score(thresholds.alert)}</dd>
        </div>
        <div>
          <dt>{STATE_NAMES.alarm}</dt>
          <dd>{score(alarm)}</dd>
        </div>
      </dl>
    </div>
  )
}
