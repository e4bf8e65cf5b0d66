import { useLive, useMay, useNow, useReload, useZone } from '../api/useLive'
import { post, url } from '../api/client'
import { unseenEvents, STATE_WORDS } from '../lib/states'
import { duration, moment } from '../lib/time'
import { link } from '../lib/route'
import { plural } from '../lib/numbers'
import { useAction } from '../lib/useAction'
import { Problem } from './Problem'
import { Shape } from './Shape'

const MOST = 5

/** What nobody has seen to yet. */
export function EventBanner() {
  const { events, machines } = useLive()
  const zone = useZone()
  const now = useNow(10)
  const may = useMay('operator')
  const reload = useReload()
  const { run, busy, error } = useAction()
  const open = unseenEvents(Object.values(events))
  if (!open.length) return null
  const acknowledge = (id: string) => run(() => post(url(`events/${id}/acknowledge`), { comment: '' }).then(reload))
  return (
    <section className="open-events" aria-label="Events to acknowledge">
      <h2>{plural(open.length, 'event')} to acknowledge</h2>
      <Problem words={error} />
      <ul>
        {open.slice(0, MOST).map((event) => {
          const name = machines[event.machine]?.name || event.machine
          return (
            <li key={event.id} className={`state-${event.level}`}>
              <Shape state={event.level} />
              <a href={link('event', event.id)}>
                <strong>
                  {STATE_WORDS[event.level]}: {name}
                </strong>
                <span className="words">{event.words}</span>
              </a>
              <time dateTime={new Date(event.began * 1000).toISOString()}>
                {moment(event.began, now, zone)} · {duration((event.ended ?? now) - event.began)}
                {event.ended !== null && ', over'}
              </time>
              {may && (
                <button
                  type="button"
                  disabled={busy}
                  onClick={() => void acknowledge(event.id)}
                  aria-label={`Acknowledge ${name}`}
                >
                  Acknowledge
                </button>
              )}
            </li>
          )
        })}
      </ul>
      {open.length > MOST && <a href={link('events', '', { open: 'true' })}>All open events</a>}
    </section>
  )
}
