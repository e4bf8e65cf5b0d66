import { useEffect, useRef, useState } from 'react'
import type { MachineEvent } from '../api/types'
import { post, url } from '../api/client'
import { useMay, useReload } from '../api/useLive'
import { plural } from '../lib/numbers'
import { useAction } from '../lib/useAction'
import { Ask } from './Ask'
import { Problem } from './Problem'

interface Props {
  /** Those that are listed and that nobody has acknowledged. */
  events: MachineEvent[]
  onChange: (changed: MachineEvent[]) => void
}

/** After a night of alarms: all that are listed, one after the other. */
export function AcknowledgeAll({ events, onChange }: Props) {
  const may = useMay('operator')
  const reload = useReload()
  const action = useAction()
  const [done, setDone] = useState<number | null>(null)
  const said = useRef<HTMLParagraphElement>(null)
  // The buttons go with the last event: the keyboard goes on at what is said.
  useEffect(() => {
    if (done !== null) said.current?.focus()
  }, [done])
  if (!may) return null
  const acknowledge = async () => {
    const changed: MachineEvent[] = []
    setDone(null)
    try {
      for (const event of events) changed.push(await post<MachineEvent>(url(`events/${event.id}/acknowledge`), { comment: '' }))
    } finally {
      setDone(changed.length)
      onChange(changed)
      await reload()
    }
  }
  const count = plural(events.length, 'event')
  return (
    <div className="all-events">
      {events.length > 0 && (
        <Ask
          offer="Acknowledge all"
          question={`Acknowledge ${count} of this list? It says that somebody has seen to them.`}
          yes={`Acknowledge ${count}`}
          action={action}
          work={acknowledge}
        />
      )}
      <div role="status">
        {done !== null && (
          <p ref={said} tabIndex={-1}>
            {plural(done, 'event')} acknowledged.
          </p>
        )}
      </div>
      <Problem words={action.error} />
    </div>
  )
}
