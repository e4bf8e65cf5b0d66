import { useEvents } from '../api/useEvents'
import { useLive } from '../api/useLive'
import { AcknowledgeAll } from '../components/AcknowledgeAll'
import { EmptyState } from '../components/EmptyState'
import { ErrorMessage } from '../components/ErrorMessage'
import { EventTable } from '../components/EventTable'
import { go, link, useRoute } from '../lib/route'
import { KIND_NAMES } from '../lib/states'
import { useAction } from '../lib/useAction'

const PAGE_SIZE = 50

export function EventsPage() {
  const { machines } = useLive()
  const { query } = useRoute()
  const machine = query.get('machine') ?? ''
  const kind = query.get('kind') ?? ''
  const open = query.get('open') ?? ''
  const { events, error: loadError, hasMore, fetchMore } = useEvents({ machine, kind, open: open === 'true' }, PAGE_SIZE)
  const { run, busy, error } = useAction()
  const filter = (part: Record<string, string>) => go(link('events', '', { machine, kind, open, ...part }))
  return (
    <>
      <div className="toolbar">
        <h1>Events</h1>
        <div className="buttons">
          <label className="inline">
            Machine{' '}
            <select value={machine} onChange={(event) => filter({ machine: event.target.value })}>
              <option value="">all</option>
              {Object.values(machines).map((each) => (
                <option key={each.id} value={each.id}>
                  {each.name || each.id}
                </option>
              ))}
            </select>
          </label>
          <label className="inline">
            Kind{' '}
            <select value={kind} onChange={(event) => filter({ kind: event.target.value })}>
              <option value="">all</option>
              {Object.entries(KIND_NAMES).map(([name, title]) => (
                <option key={name} value={name}>
                  {title}
                </option>
              ))}
            </select>
          </label>
          <label className="inline">
            <input
              type="checkbox"
              checked={open === 'true'}
              onChange={(event) => filter({ open: event.target.checked ? 'true' : '' })}
            />{' '}
            Only open events
          </label>
        </div>
      </div>
      <ErrorMessage message={loadError || error} />
      <AcknowledgeAll key={`${machine} ${kind} ${open}`} events={(events ?? []).filter((event) => event.state === 'active')} />
      {events?.length ? (
        <>
          <EventTable events={events} withMachine />
          {hasMore && (
            <button type="button" className="more" disabled={busy} onClick={() => void run(fetchMore)}>
              Older events
            </button>
          )}
        </>
      ) : (
        <EmptyState title={events ? 'No events.' : 'Loading…'}>
          {(machine || kind || open) && <a href={link('events')}>Show all events</a>}
        </EmptyState>
      )}
    </>
  )
}
