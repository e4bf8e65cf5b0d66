import { useEffect, useState } from 'react'
import type { MachineEvent } from '../api/types'
import { get, url } from '../api/client'
import { useFetched } from '../api/useFetched'
import { useLive } from '../api/useLive'
import { AcknowledgeAll } from '../components/AcknowledgeAll'
import { Empty } from '../components/Empty'
import { EventTable } from '../components/EventTable'
import { Problem } from '../components/Problem'
import { go, link, useRoute } from '../lib/route'
import { KIND_WORDS } from '../lib/states'
import { useAction } from '../lib/useAction'

const PAGE = 50

export function EventsPage() {
  const { machines } = useLive()
  const { query } = useRoute()
  const machine = query.get('machine') ?? ''
  const kind = query.get('kind') ?? ''
  const open = query.get('open') ?? ''
  const address = (before?: number) => url('events', { machine, kind, open, before, limit: PAGE })
  const first = useFetched<MachineEvent[]>(address(), 10)
  const [older, setOlder] = useState<MachineEvent[]>([])
  const [isEnd, setEnd] = useState(false)
  const { run, busy, error } = useAction()
  useEffect(() => {
    setOlder([])
    setEnd(false)
  }, [machine, kind, open])
  const filter = (part: Record<string, string>) => go(link('events', '', { machine, kind, open, ...part }))
  const newest = first.content ?? []
  const known = new Set(newest.map((event) => event.id))
  const events = [...newest, ...older.filter((event) => !known.has(event.id))]
  const more = () =>
    run(async () => {
      const next = await get<MachineEvent[]>(address(events.at(-1)?.began))
      setOlder((before) => [...before, ...next])
      setEnd(next.length < PAGE)
    })
  const take = (changed: MachineEvent[]) => {
    const now = new Map(changed.map((event) => [event.id, event]))
    setOlder((before) => before.map((event) => now.get(event.id) ?? event))
    first.again()
  }
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
              {Object.entries(KIND_WORDS).map(([name, title]) => (
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
            Open only
          </label>
        </div>
      </div>
      <Problem words={first.error || error} />
      <AcknowledgeAll key={`${machine} ${kind} ${open}`} events={events.filter((event) => event.state === 'active')} onChange={take} />
      {events.length ? (
        <>
          <EventTable events={events} withMachine />
          {newest.length === PAGE && !isEnd && (
            <button type="button" className="more" disabled={busy} onClick={() => void more()}>
              Older events
            </button>
          )}
        </>
      ) : (
        <Empty title={first.content ? 'No events.' : 'Loading…'}>
          {(machine || kind || open) && <a href={link('events')}>Show all events</a>}
        </Empty>
      )}
    </>
  )
}
