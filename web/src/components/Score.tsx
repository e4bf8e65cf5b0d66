import type { Thresholds } from '../api/types'
import { t } from '../i18n'
import { score } from '../lib/numbers'
import { isLowerThanUsual } from '../lib/scores'

/** A score, with a word where it is below zero, so that nobody takes that for a fault. */
export function Score({ value, thresholds }: { value: number | null; thresholds: Thresholds }) {
  return (
    <>
      {score(value)}
      {isLowerThanUsual(value, thresholds) && (
        <span className="soft lower" title={t('machine.gauge.lower')}>
          {' '}
          {t('machine.gauge.low')}
        </span>
      )}
    </>
  )
}
