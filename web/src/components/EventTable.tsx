import type { MachineEvent } from '../api/types'
import { useLive, useNow, useTimezone } from '../api/useLive'
import { listed, named, t } from '../i18n'
import { rich } from '../i18n/rich'
import { episodesText } from '../lib/episodes'
import { eventText } from '../lib/findings'
import { score } from '../lib/numbers'
import { link } from '../lib/route'
import { EVENT_STATE_NAMES, kindName, STATE_NAMES } from '../lib/states'
import { duration, stamp } from '../lib/time'
import { EventRemarks } from './EventRemarks'
import { EventThumbnail } from './EventThumbnail'
import { StateIcon } from './StateIcon'

const LABEL_NAMES = named('events.labels', ['normal', 'fault'])

const soft = (text: string) => <span className="soft">{text}</span>

/** An unusual sound of which nothing else is known: its text says so already. */
const namesItself = ({ kind, findings }: MachineEvent) => kind === 'anomaly' && findings.length === 0

export function EventTable({ events, withMachine }: { events: MachineEvent[]; withMachine: boolean }) {
  const { machines } = useLive()
  const zone = useTimezone()
  const now = useNow(10)
  return (
    <div className="scrolled">
      <table className="events">
        <thead>
          <tr>
            <th scope="col">{t('events.began')}</th>
            {withMachine && <th scope="col">{t('events.machine')}</th>}
            {withMachine && <th scope="col">{t('history.row.picture')}</th>}
            <th scope="col">{t('events.level')}</th>
            <th scope="col">{t('events.description')}</th>
            <th scope="col">{t('events.duration')}</th>
            <th scope="col" className="number">
              {t('events.peak')}
            </th>
            <th scope="col">{t('events.state')}</th>
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
              {withMachine && (
                <td className="thumbnail">
                  <EventThumbnail event={event} />
                </td>
              )}
              <td>
                <span className={`badge small state-${event.level}`}>
                  <StateIcon state={event.level} />
                  {STATE_NAMES[event.level]}
                </span>
              </td>
              <td className="what">
                {namesItself(event)
                  ? eventText(event)
                  : rich('events.what', { soft }, { kind: kindName(event.kind, machines[event.machine]), text: eventText(event) })}
                {event.episodes.length > 1 && soft(`${t('common.comma')}${episodesText(event.episodes, now)}`)}
                <EventRemarks event={event} />
              </td>
              <td>{event.ended === null ? listed([duration(now - event.began), t('states.active')]) : duration(event.ended - event.began)}</td>
              <td className="number peak" data-title={t('events.peakShort')}>{score(event.peak)}</td>
              <td>
                {EVENT_STATE_NAMES[event.state]}
                {event.label && soft(`${t('common.comma')}${LABEL_NAMES[event.label]}`)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
