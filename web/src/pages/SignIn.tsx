import { useContext, useState, type FormEvent } from 'react'
import { LiveContext } from '../api/useLive'
import { ErrorMessage } from '../components/ErrorMessage'
import { t } from '../i18n'
import { useAction } from '../lib/useAction'

export function SignIn() {
  const live = useContext(LiveContext)
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const { run, busy, error } = useAction()
  const send = (event: FormEvent) => {
    event.preventDefault()
    void run(() => live.signIn(name, password))
  }
  return (
    <main className="sign-in" id="main">
      <form className="panel" onSubmit={send}>
        <h1>{t('signIn.title')}</h1>
        <label>
          {t('signIn.name')}
          <input autoComplete="username" autoFocus required value={name} onChange={(event) => setName(event.target.value)} />
        </label>
        <label>
          {t('signIn.password')}
          <input
            type="password"
            autoComplete="current-password"
            required
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
        </label>
        <ErrorMessage message={error} />
        <button type="submit" className="main" disabled={busy}>
          {t('signIn.signIn')}
        </button>
        <p className="plain">{t('signIn.askAdmin')}</p>
      </form>
    </main>
  )
}
