import { type SyntheticEvent, useEffect, useRef } from 'react'
import type { Role } from '../api/types'
import { hasRole, useLive } from '../api/useLive'
import { t } from '../i18n'
import { STATE_HELP, STATES } from '../lib/states'
import { StateBadge } from './StateBadge'

/** `what`: below help.keys. */
const SHORTCUTS: readonly { keys: readonly string[]; what: string; role: Role }[] = [
  { keys: ['?'], what: 'help', role: 'viewer' },
  { keys: ['g', 'o'], what: 'overview', role: 'viewer' },
  { keys: ['g', 'e'], what: 'events', role: 'viewer' },
  { keys: ['g', 'm'], what: 'models', role: 'viewer' },
  { keys: ['g', 's'], what: 'settings', role: 'viewer' },
  { keys: ['a'], what: 'acknowledge', role: 'operator' },
  { keys: ['space'], what: 'play', role: 'viewer' },
]

export function HelpDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const { user } = useLive()
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    if (open && !dialog.current?.open) dialog.current?.showModal()
    if (!open) dialog.current?.close()
  }, [open])
  // Escape closes by the state alone, so that a key that follows at once opens it again; an event
  // of a close that is over then comes late.
  const cancel = (event: SyntheticEvent) => {
    event.preventDefault()
    onClose()
  }
  const closed = () => {
    if (!dialog.current?.open) onClose()
  }
  return (
    <dialog ref={dialog} onCancel={cancel} onClose={closed} aria-label={t('help.title')}>
      <h2>{t('help.shortcuts')}</h2>
      <dl className="keys">
        {SHORTCUTS.filter(({ role }) => hasRole(user, role)).map(({ keys, what }) => (
          <div key={what}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key === 'space' ? t('help.keys.space') : key}</kbd>
              ))}
            </dt>
            <dd>{t(`help.keys.${what}`)}</dd>
          </div>
        ))}
      </dl>
      <h2>{t('help.states')}</h2>
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
      <h2>{t('help.scores')}</h2>
      <p>{t('help.score')}</p>
      <button type="button" onClick={onClose}>
        {t('help.close')}
      </button>
    </dialog>
  )
}
