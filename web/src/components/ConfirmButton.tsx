import { useState, type ReactNode } from 'react'
import { t } from '../i18n'
import { onEscape, useReturnFocus } from '../lib/focus'
import type { Action } from '../lib/useAction'

interface Props {
  /** Text of the button. */
  title: string
  /** Asked before the action. */
  question?: ReactNode
  confirm: string
  cancel?: string | undefined
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
export function ConfirmButton({ title, question, confirm, cancel, action, work, disabled = false, danger = false, label, pressed }: Props) {
  const [isAsking, setAsking] = useState(false)
  const first = useReturnFocus<HTMLButtonElement>(isAsking)
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
    <div className="confirm" role="group" aria-label={title} onKeyDown={onEscape(() => setAsking(false))}>
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
          {cancel ?? t('common.cancel')}
        </button>
      </div>
    </div>
  )
}
