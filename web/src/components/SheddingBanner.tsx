import { useLive, useTimezone } from '../api/useLive'
import { t } from '../i18n'
import { stamp } from '../lib/time'

/** What is left out while the computer cannot keep up with scoring. */
export function SheddingBanner() {
  const shedding = useLive().service?.shedding
  const zone = useTimezone()
  if (!shedding) return null
  const since = stamp(shedding.since, zone)
  return (
    <div className="service-problems" role="status">
      <strong>{t('overview.shedding.title')}</strong>
      <p>
        {shedding.second_every > 1
          ? t('overview.shedding.seconds', { number: shedding.second_every, since })
          : t('overview.shedding.segments', { number: shedding.score_every, since })}{' '}
        {t('overview.shedding.first')}
      </p>
    </div>
  )
}
