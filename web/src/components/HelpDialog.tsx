import { useEffect, useRef } from 'react'
import { STATE_HELP, STATES } from '../lib/states'
import { StateBadge } from './StateBadge'

export const SHORTCUTS: readonly [string, string][] = [
  ['?', 'this help'],
  ['g o', 'overview'],
  ['g e', 'events'],
  ['g m', 'models'],
  ['g s', 'settings'],
  ['a', 'acknowledge (on the page of an event)'],
  ['space', 'play and stop (on the page of an event)'],
]

export function HelpDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    if (open && !dialog.current?.open) dialog.current?.showModal()
    if (!open) dialog.current?.close()
  }, [open])
  return (
    <dialog ref={dialog} onClose={onClose} aria-label="Help">
      <h2>Keys</h2>
      <dl className="keys">
        {SHORTCUTS.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <h2>States</h2>
      <dl className="keys">
        {STATES.map((state) => (
          <div key={state}>
            <dt>
              <StateBadge state={state} />
            </dt>
            <dd>{STATE_HELP[state]}</dd>
          </div>
        ))}
      </dl>
      <button type="button" onClick={onClose}>
        Close
      </button>
    </dialog>
  )
}
