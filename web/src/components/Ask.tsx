import { useEffect, useRef, useState, type ReactNode } from 'react'
import type { Action } from '../lib/useAction'

interface Props {
  /** On the button that is there first. */
  offer: string
  /** Said before the second button. */
  question?: ReactNode
  yes: string
  no?: string
  action: Action
  work: () => Promise<unknown>
  disabled?: boolean
  danger?: boolean
  /** For those who hear it, where several buttons read the same. */
  label?: string
  /** Where the first button is one that is on or off. */
  pressed?: boolean
}

/** Something that is asked a second time before it happens. */
export function Ask({ offer, question, yes, no = 'Cancel', action, work, disabled = false, danger = false, label, pressed }: Props) {
  const [isAsking, setAsking] = useState(false)
  const first = useRef<HTMLButtonElement>(null)
  const wasAsking = useRef(false)
  // The button that was pressed is gone: the keyboard goes on where the reader is.
  useEffect(() => {
    if (wasAsking.current && !isAsking) first.current?.focus()
    wasAsking.current = isAsking
  }, [isAsking])
  if (!isAsking)
    return (
      <button
        ref={first}
        type="button"
        disabled={disabled || action.busy}
        aria-label={label}
        aria-pressed={pressed}
        onClick={() => setAsking(true)}
      >
        {offer}
      </button>
    )
  return (
    <div className="ask" role="group" aria-label={offer}>
      {question && <p>{question}</p>}
      <div className="buttons">
        <button
          type="button"
          className={danger ? 'danger' : 'main'}
          disabled={action.busy}
          onClick={() => void action.run(work).then(() => setAsking(false))}
        >
          {yes}
        </button>
        <button type="button" autoFocus onClick={() => setAsking(false)}>
          {no}
        </button>
      </div>
    </div>
  )
}
