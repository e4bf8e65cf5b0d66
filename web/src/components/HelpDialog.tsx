import { useEffect, useRef } from 'react'
import type { Role } from '../api/types'
import { hasRole, useLive } from '../api/useLive'
import { STATE_HELP, STATES } from '../lib/states'
import { StateBadge } from './StateBadge'

const SHORTCUTS: readonly { keys: string; what: string; role: Role }[] = [
  { keys: '?', what: 'this help', role: 'viewer' },
  { keys: 'g o', what: 'overview', role: 'viewer' },
  { keys: 'g e', what: 'events', role: 'viewer' },
  { keys: 'g m', what: 'models', role: 'viewer' },
  { keys: 'g s', what: 'settings', role: 'viewer' },
  { keys: 'a', what: 'acknowledge (on the page of an event)', role: 'operator' },
  { keys: 'space', what: 'play and pause (on the page of an event)', role: 'viewer' },
]

export function HelpDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const { user } = useLive()
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    if (open && !dialog.current?.open) dialog.current?.showModal()
    if (!open) dialog.current?.close()
  }, [open])
  return (
    <dialog ref={dialog} onClose={onClose} aria-label="Help">
      <h2>Keyboard shortcuts</h2>
      <dl className="keys">
        {SHORTCUTS.filter(({ role }) => hasRole(user, role)).map(({ keys, what }) => (
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
