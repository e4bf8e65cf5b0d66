import { useLive, useNow, useTimezone } from '../api/useLive'
import { t } from '../i18n'
import { link, useRoute } from '../lib/route'
import { unacknowledgedEvents } from '../lib/states'
import { clock, day, zoneName } from '../lib/time'

const PAGES = ['overview', 'events', 'report', 'settings'] as const

/** Pages that belong to another one in the navigation. */
const SECTIONS: Record<string, string> = { machine: 'overview', add: 'overview', edit: 'overview', event: 'events', models: 'settings' }

function SiteTime() {
  const now = useNow(1)
  const zone = useTimezone()
  return (
    <time className="site-time" dateTime={new Date(now * 1000).toISOString()} title={t('common.siteTime', { zone })}>
      <span className="date">{day(now, zone)}</span> <strong>{clock(now, zone)}</strong>{' '}
      <span className="date">{zoneName(now, zone)}</span>
    </time>
  )
}

export function TopBar() {
  const { service, connected, events } = useLive()
  const { page } = useRoute()
  const section = SECTIONS[page] ?? page
  const open = unacknowledgedEvents(Object.values(events)).length
  return (
    <header className="top">
      <a className="service" href={link('overview')}>
        <span className="name">{service?.name ?? 'ssdpt'}</span>
        {service?.demo && <span className="tag">{t('common.demo')}</span>}
        {service && service.speed !== 1 && <span className="tag">{t('common.clockSpeed', { speed: service.speed })}</span>}
      </a>
      <nav aria-label={t('common.pages.label')}>
        {PAGES.map((name) => (
          <a key={name} href={link(name)} aria-current={section === name ? 'page' : undefined}>
            {t(`common.pages.${name}`)}
            {name === 'events' && open > 0 && (
              <span className="count" aria-label={t('common.toAcknowledge', { number: open })}>
                {open}
              </span>
            )}
          </a>
        ))}
      </nav>
      <div className="right">
        <span className={`link-state ${connected ? 'on' : 'lost'}`}>{connected ? t('common.live') : t('common.notLive')}</span>
        <SiteTime />
      </div>
    </header>
  )
}
