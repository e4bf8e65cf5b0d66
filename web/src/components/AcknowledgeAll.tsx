import { useEffect, useRef, useState } from 'react'
import type { MachineEvent } from '../api/types'
import { post, url } from '../api/client'
import { useHasRole, useReload } from '../api/useLive'
import { t } from '../i18n'
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
  const isEmpty = events.length === 0
  // The buttons vanish with the last event, before or after the reply: the focus goes to the result.
  useEffect(() => {
    if (done !== null) status.current?.focus()
  }, [done, isEmpty])
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
  const count = events.length
  return (
    <div className="all-events">
      {count > 0 && (
        <ConfirmButton
          title={t('events.acknowledgeAll')}
          question={t('events.acknowledgeQuestion', { count })}
          confirm={t('events.acknowledge', { count })}
          action={action}
          work={acknowledge}
        />
      )}
      <div role="status">
        {done !== null && (
          <p ref={status} tabIndex={-1}>
            {t('events.acknowledged', { count: done })}
          </p>
        )}
      </div>
      <ErrorMessage message={action.error} />
    </div>
  )
}
