import type { ChangePoint } from '../api/types'
import { t } from '../i18n'
import { findingsText } from '../lib/findings'
import { STATE_NAMES } from '../lib/states'
import { date } from '../lib/time'

/** "Alert, 3 Nov 2026, 14:00: new tone at 130 Hz, 30 dB above normal" */
export function changeText({ time, level, findings }: ChangePoint, zone: string): string {
  return t('trend.change', { level: STATE_NAMES[level], date: date(time, zone), what: findingsText(findings) || t('trend.lastingChange') })
}

/** Lasting changes in the time range of a trend; the chart marks them. */
export function ChangePoints({ changes, zone }: { changes: readonly ChangePoint[]; zone: string }) {
  if (!changes.length) return null
  return (
    <ul className="changes" aria-label={t('trend.changes')}>
      {changes.map((change) => (
        <li key={change.time} className={`state-${change.level}`}>
          <span className="diamond" aria-hidden="true" /> {changeText(change, zone)}
        </li>
      ))}
    </ul>
  )
}
