import { useState, type FormEvent } from 'react'
import { put, url } from '../api/client'
import { onEscape } from '../lib/focus'
import { useAction } from '../lib/useAction'
import { t } from '../i18n'
import { ErrorMessage } from './ErrorMessage'
import { PasswordField } from './PasswordField'

interface Props {
  name: string
  /** Whether a new password was set. */
  onClose: (wasSet: boolean) => void
}

/** A new password for somebody who has lost theirs. */
export function ResetPassword({ name, onClose }: Props) {
  const { run, busy, error } = useAction()
  const [password, setPassword] = useState('')
  const send = (event: FormEvent) => {
    event.preventDefault()
    void run(() => put(url(`users/${encodeURIComponent(name)}/password`), { password })).then((done) => {
      if (done) onClose(true)
    })
  }
  return (
    <form className="reset" onSubmit={send} onKeyDown={onEscape(() => onClose(false))}>
      <PasswordField label={t('account.users.newPasswordOf', { name })} value={password} onChange={setPassword} />
      <p className="soft">{t('account.password.rules')}</p>
      <ErrorMessage message={error} />
      <div className="buttons">
        <button type="submit" className="main" disabled={busy}>
          {t('account.users.set')}
        </button>
        <button type="button" onClick={() => onClose(false)}>
          {t('common.cancel')}
        </button>
      </div>
    </form>
  )
}
