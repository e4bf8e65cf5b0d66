import { useEffect, useRef, useState, type ReactNode } from 'react'
import type { Action } from '../lib/useAction'

interface Props {
  /** Text of the button. */
  title: string
  /** Asked before the action. */
  question?: ReactNode
  confirm: string
  cancel?: string
  action: Action
  work: () => Promise<unknown>
  disabled?: boolean
  danger?: boolean
  /** For screen readers, where several buttons have the same text. */
  label?: string
  /** For a toggle button. */
  pressed?: boolean
}

/** A button whose action must be confirmed. */
export function ConfirmButton({ title, question, confirm, cancel = 'Cancel', action, work, disabled = false, danger = false, label, pressed }: Props) {
  const [isAsking, setAsking] = useState(false)
  const first = useRef<HTMLButtonElement>(null)
  const wasAsking = useRef(false)
  // The pressed button is gone: the focus goes back to the first one.
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
        {title}
      </button>
    )
  return (
    <div className="confirm" role="group" aria-label={title}>
      {question && <p>{question}</p>}
      <div className="buttons">
        <button
          type="button"
          className={danger ? 'danger' : 'main'}
          disabled={action.busy}
          onClick={() => void action.run(work).then(() => setAsking(false))}
        >
          {confirm}
        </button>
        <button type="button" autoFocus onClick={() => setAsking(false)}>
          {cancel}
        </button>
      </div>
    </div>
  )
}
