import { useLive, useNow, useTimezone } from '../api/useLive'
import { link, useRoute } from '../lib/route'
import { unacknowledgedEvents } from '../lib/states'
import { clock, day, zoneName } from '../lib/time'

const PAGES = [
  ['overview', 'Overview'],
  ['events', 'Events'],
  ['models', 'Models'],
  ['settings', 'Settings'],
] as const

/** Pages that belong to another one in the navigation. */
const SECTIONS: Record<string, string> = { machine: 'overview', add: 'overview', event: 'events' }

function SiteTime() {
  const now = useNow(1)
  const zone = useTimezone()
  return (
    <time className="site-time" dateTime={new Date(now * 1000).toISOString()} title={`Time at the site (${zone})`}>
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
        {service?.demo && <span className="tag">Demo</span>}
        {service && service.speed !== 1 && <span className="tag">Clock speed × {service.speed}</span>}
      </a>
      <nav aria-label="Pages">
        {PAGES.map(([name, title]) => (
          <a key={name} href={link(name)} aria-current={section === name ? 'page' : undefined}>
            {title}
            {name === 'events' && open > 0 && (
              <span className="count" aria-label={`${open} to acknowledge`}>
                {open}
              </span>
            )}
          </a>
        ))}
      </nav>
      <div className="right">
        <span className={`link-state ${connected ? 'on' : 'lost'}`}>{connected ? 'Live' : 'Not live'}</span>
        <SiteTime />
      </div>
    </header>
  )
}
