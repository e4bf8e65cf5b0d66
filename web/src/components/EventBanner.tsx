import { useLive, useHasRole, useNow, useReload, useTimezone } from '../api/useLive'
import { post, url } from '../api/client'
import { listed, t } from '../i18n'
import { episodesText } from '../lib/episodes'
import { eventText } from '../lib/findings'
import { unacknowledgedEvents, STATE_NAMES } from '../lib/states'
import { duration, moment } from '../lib/time'
import { link } from '../lib/route'
import { useAction } from '../lib/useAction'
import { ErrorMessage } from './ErrorMessage'
import { StateIcon } from './StateIcon'

const MOST_SHOWN = 5

/** Events that nobody has acknowledged. */
export function EventBanner() {
  const { events, machines } = useLive()
  const zone = useTimezone()
  const now = useNow(10)
  const isOperator = useHasRole('operator')
  const reload = useReload()
  const { run, busy, error } = useAction()
  const open = unacknowledgedEvents(Object.values(events))
  if (!open.length) return null
  const acknowledge = (id: string) => run(() => post(url(`events/${id}/acknowledge`), { comment: '' }).then(reload))
  return (
    <section className={`open-events state-${open[0]?.level}`} aria-label={t('overview.eventsToAcknowledge')}>
      <h2>{t('overview.eventCount', { count: open.length })}</h2>
      <ErrorMessage message={error} />
      <ul>
        {open.slice(0, MOST_SHOWN).map((event) => {
          const name = machines[event.machine]?.name || event.machine
          return (
            <li key={event.id} className={`state-${event.level}`}>
              <StateIcon state={event.level} />
              <a href={link('event', event.id)}>
                <strong>{t('overview.event', { level: STATE_NAMES[event.level], machine: name })}</strong>
                <span className="message">{listed([eventText(event), episodesText(event.episodes, now)])}</span>
              </a>
              <time dateTime={new Date(event.began * 1000).toISOString()}>
                {moment(event.began, now, zone)} ·{' '}
                {listed([duration((event.ended ?? now) - event.began), event.ended === null ? '' : t('states.over')])}
              </time>
              {isOperator && (
                <button
                  type="button"
                  disabled={busy}
                  onClick={() => void acknowledge(event.id)}
                  aria-label={t('overview.acknowledgeMachine', { machine: name })}
                >
                  {t('overview.acknowledge')}
                </button>
              )}
            </li>
          )
        })}
      </ul>
      {open.length > MOST_SHOWN && <a href={link('events', '', { open: 'true' })}>{t('overview.allOpenEvents')}</a>}
    </section>
  )
}
