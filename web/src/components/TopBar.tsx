import { useLive, useNow, useZone } from '../api/useLive'
import { link, useRoute } from '../lib/route'
import { unseenEvents } from '../lib/states'
import { clock, day, zoneName } from '../lib/time'

const PAGES = [
  ['overview', 'Overview'],
  ['events', 'Events'],
  ['models', 'Models'],
  ['settings', 'Settings'],
] as const

/** Pages that lie behind another one. */
const ROOMS: Record<string, string> = { machine: 'overview', add: 'overview', event: 'events' }

function PlantTime() {
  const now = useNow(1)
  const zone = useZone()
  return (
    <time className="plant-time" dateTime={new Date(now * 1000).toISOString()} title={`Time at the plant (${zone})`}>
      <span className="date">{day(now, zone)}</span> <strong>{clock(now, zone)}</strong>{' '}
      <span className="date">{zoneName(now, zone)}</span>
    </time>
  )
}

export function TopBar() {
  const { plant, connected, events } = useLive()
  const { page } = useRoute()
  const room = ROOMS[page] ?? page
  const open = unseenEvents(Object.values(events)).length
  return (
    <header className="top">
      <a className="plant" href={link('overview')}>
        <span className="name">{plant?.name ?? 'ssdpt'}</span>
        {plant?.demo && <span className="tag">Demo</span>}
        {plant && plant.speed !== 1 && <span className="tag">Clock runs × {plant.speed}</span>}
      </a>
      <nav aria-label="Pages">
        {PAGES.map(([name, title]) => (
          <a key={name} href={link(name)} aria-current={room === name ? 'page' : undefined}>
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
        <PlantTime />
      </div>
    </header>
  )
}
