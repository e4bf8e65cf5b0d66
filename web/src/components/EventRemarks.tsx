import type { MachineEvent } from '../api/types'
import { t } from '../i18n'
import { translated } from '../lib/sentences'

/** What people say of an event, in a list: fault, cause, work order and the last comment. */
export function EventRemarks({ event }: { event: MachineEvent }) {
  const last = event.comments.at(-1)
  const remarks = [
    event.cause && t('history.row.cause', { cause: event.cause }),
    event.work_order && t('history.row.workOrder', { number: event.work_order }),
  ].filter(Boolean)
  if (!remarks.length && !last && !event.fault && !event.looks_like) return null
  return (
    <div className="remarks">
      {event.fault ? (
        <span className="tag">{event.fault}</span>
      ) : (
        event.looks_like && <span className="tag unsure">{t('history.row.looksLike', { fault: event.looks_like.fault })}</span>
      )}
      {remarks.map((text) => (
        <span key={text}>{text}</span>
      ))}
      {last && (
        <span className="comment">
          <span className="soft">{t('history.row.comments', { count: event.comments.length })}</span>{' '}
          {t('history.row.last', { who: last.who, text: translated(last.text, last.sentence) })}
        </span>
      )}
    </div>
  )
}
