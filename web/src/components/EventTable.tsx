import type { MachineEvent } from '../api/types'
import { useLive, useNow, useTimezone } from '../api/useLive'
import { episodesText } from '../lib/episodes'
import { eventText } from '../lib/findings'
import { score } from '../lib/numbers'
import { link } from '../lib/route'
import { EVENT_STATE_NAMES, KIND_NAMES, STATE_NAMES } from '../lib/states'
import { duration, stamp } from '../lib/time'
import { StateIcon } from './StateIcon'

const LABEL_NAMES = { '': '', normal: 'marked as normal', fault: 'marked as a fault' }

export function EventTable({ events, withMachine }: { events: MachineEvent[]; withMachine: boolean }) {
  const { machines } = useLive()
  const zone = useTimezone()
  const now = useNow(10)
  return (
    <div className="scrolled">
      <table className="events">
        <thead>
          <tr>
            <th scope="col">Began</th>
            {withMachine && <th scope="col">Machine</th>}
            <th scope="col">Level</th>
            <th scope="col">Description</th>
            <th scope="col">Duration</th>
            <th scope="col" className="number">
              Peak
            </th>
            <th scope="col">State</th>
          </tr>
        </thead>
        <tbody>
          {events.map((event) => (
            <tr key={event.id} className={event.state === 'active' ? 'is-open' : ''}>
              <td>
                <a href={link('event', event.id)}>{stamp(event.began, zone)}</a>
              </td>
              {withMachine && (
                <td className="machine">
                  <a href={link('machine', event.machine)}>{machines[event.machine]?.name || event.machine}</a>
                </td>
              )}
              <td>
                <span className={`badge small state-${event.level}`}>
                  <StateIcon state={event.level} />
                  {STATE_NAMES[event.level]}
                </span>
              </td>
              <td className="what">
                <span className="soft">{KIND_NAMES[event.kind]}.</span> {eventText(event)}
                {event.episodes.length > 1 && <span className="soft">, {episodesText(event.episodes, now)}</span>}
              </td>
              <td>{event.ended === null ? `${duration(now - event.began)}, active` : duration(event.ended - event.began)}</td>
              <td className="number peak">{score(event.peak)}</td>
              <td>
                {EVENT_STATE_NAMES[event.state]}
                {event.label && <span className="soft">, {LABEL_NAMES[event.label]}</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
