import { useEffect, useRef, useState } from 'react'
import type { MachineEvent } from '../api/types'
import { post, url } from '../api/client'
import { useHasRole, useReload } from '../api/useLive'
import { plural } from '../lib/numbers'
import { useAction } from '../lib/useAction'
import { ConfirmButton } from './ConfirmButton'
import { ErrorMessage } from './ErrorMessage'

interface Props {
  /** Unacknowledged events of the list. */
  events: MachineEvent[]
}

/** After a night of alarms: acknowledge all events of the list, one after the other. */
export function AcknowledgeAll({ events }: Props) {
  const isOperator = useHasRole('operator')
  const reload = useReload()
  const action = useAction()
  const [done, setDone] = useState<number | null>(null)
  const status = useRef<HTMLParagraphElement>(null)
  // The buttons vanish with the last event: the focus goes to the result.
  useEffect(() => {
    if (done !== null) status.current?.focus()
  }, [done])
  if (!isOperator) return null
  const acknowledge = async () => {
    let count = 0
    setDone(null)
    try {
      for (const event of events) {
        await post<MachineEvent>(url(`events/${event.id}/acknowledge`), { comment: '' })
        count++
      }
    } finally {
      setDone(count)
      await reload()
    }
  }
  const count = plural(events.length, 'event')
  return (
    <div className="all-events">
      {events.length > 0 && (
        <ConfirmButton
          title="Acknowledge all"
          question={`Acknowledge ${count} of this list? This says that someone has taken care of them.`}
          confirm={`Acknowledge ${count}`}
          action={action}
          work={acknowledge}
        />
      )}
      <div role="status">
        {done !== null && (
          <p ref={status} tabIndex={-1}>
            {plural(done, 'event')} acknowledged.
          </p>
        )}
      </div>
      <ErrorMessage message={action.error} />
    </div>
  )
}
