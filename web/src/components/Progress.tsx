import { t } from '../i18n'
import { duration } from '../lib/time'

/** How much normal sound has been collected. */
export function Progress({ seconds, target }: { seconds: number; target: number }) {
  const share = target > 0 ? Math.min(1, seconds / target) : 0
  return (
    <div className="progress">
      <progress aria-label={t('baseline.progress')} value={share} max={1} />
      <p className="plain">{t('baseline.collected', { seconds: duration(seconds), target: duration(target) })}</p>
    </div>
  )
}
