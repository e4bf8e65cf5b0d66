import type { EventGroup } from '../api/types'
import { url } from '../api/client'
import { eventQuery } from '../api/useEvents'
import { useFetched } from '../api/useFetched'
import { useLive, useTimezone } from '../api/useLive'
import { t } from '../i18n'
import { filterOf, searchLink, type EventSearch } from '../lib/eventSearch'
import { kindName, STATE_NAMES } from '../lib/states'
import { stamp } from '../lib/time'
import { EmptyState } from './EmptyState'
import { ErrorMessage } from './ErrorMessage'
import { StateIcon } from './StateIcon'

/** Events of the same machine and fault in one row. */
export function EventGroups({ search }: { search: EventSearch }) {
  const { machines } = useLive()
  const zone = useTimezone()
  const { content, error } = useFetched<EventGroup[]>(url('events/groups', eventQuery(filterOf(search, zone))))
  if (!content?.length)
    return (
      <>
        <ErrorMessage message={error} />
        <EmptyState title={content ? t('events.none') : t('common.loading')} />
      </>
    )
  return (
    <div className="scrolled">
      <table className="events groups">
        <thead>
          <tr>
            <th scope="col">{t('history.groups.fault')}</th>
            <th scope="col">{t('history.groups.machine')}</th>
            <th scope="col" className="number">
              {t('history.groups.events')}
            </th>
            <th scope="col">{t('history.groups.level')}</th>
            <th scope="col">{t('history.groups.first')}</th>
            <th scope="col">{t('history.groups.last')}</th>
            <th scope="col" className="number">
              {t('history.groups.unacknowledged')}
            </th>
          </tr>
        </thead>
        <tbody>
          {content.map((group) => {
            const machine = machines[group.machine]?.name || group.machine
            const kind = kindName(group.kind, machines[group.machine])
            const fault = group.fault || (group.kind === 'anomaly' ? t('history.groups.unnamed', { kind }) : kind)
            const chosen = group.fault ? { fault: group.fault } : { unnamed: 'true' }
            const address = searchLink({ ...search, grouped: '', machine: group.machine, kind: group.kind, ...chosen })
            const unconfirmed = group.fault ? group.events - group.confirmed : 0
            return (
              <tr key={`${group.machine} ${group.kind} ${group.fault}`} className={group.unacknowledged ? 'is-open' : ''}>
                <td>
                  <a href={address} aria-label={t('history.groups.show', { fault, machine })}>
                    {fault}
                  </a>
                  {unconfirmed > 0 && <span className="soft"> {t('history.groups.unconfirmed', { count: unconfirmed })}</span>}
                </td>
                <td>{machine}</td>
                <td className="number" data-name={t('history.groups.events')}>
                  {group.events}
                </td>
                <td>
                  <span className={`badge small state-${group.level}`}>
                    <StateIcon state={group.level} />
                    {STATE_NAMES[group.level]}
                  </span>
                </td>
                <td data-name={t('history.groups.first')}>{stamp(group.first_began, zone)}</td>
                <td data-name={t('history.groups.last')}>{stamp(group.last_began, zone)}</td>
                <td className="number" data-name={t('history.groups.unacknowledged')}>
                  {group.unacknowledged}
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}
