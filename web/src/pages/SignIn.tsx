import { useContext, useState, type FormEvent } from 'react'
import { setCsrf, post, url } from '../api/client'
import { LiveContext } from '../api/useLive'
import { ErrorMessage } from '../components/ErrorMessage'
import { useAction } from '../lib/useAction'

export function SignIn() {
  const live = useContext(LiveContext)
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const { run, busy, error } = useAction()
  const send = (event: FormEvent) => {
    event.preventDefault()
    void run(async () => {
      setCsrf((await post<{ csrf: string }>(url('session'), { name, password })).csrf)
      await live.start()
    })
  }
  return (
    <main className="sign-in" id="main">
      <form className="panel" onSubmit={send}>
        <h1>Sign in</h1>
        <label>
          Name
          <input autoComplete="username" autoFocus required value={name} onChange={(event) => setName(event.target.value)} />
        </label>
        <label>
          Password
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
          Sign in
        </button>
        <p className="plain">Ask your administrator for an account.</p>
      </form>
    </main>
  )
}
