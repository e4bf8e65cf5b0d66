import { useState, type FormEvent } from 'react'
import type { SessionInfo } from '../api/types'
import { put, setCsrf, url } from '../api/client'
import { useAction } from '../lib/useAction'
import { t } from '../i18n'
import { ErrorMessage } from './ErrorMessage'
import { Panel } from './Panel'
import { PasswordField } from './PasswordField'

const EMPTY = { old: '', new: '', again: '' }

/** Changes the password of whoever is signed in; the old one is asked for. */
export function OwnPassword() {
  const { run, busy, error } = useAction()
  const [typed, setTyped] = useState(EMPTY)
  const [isDone, setDone] = useState(false)
  const change = (part: Partial<typeof EMPTY>) => {
    setDone(false)
    setTyped({ ...typed, ...part })
  }
  const differ = typed.again !== '' && typed.again !== typed.new
  const send = (event: FormEvent) => {
    event.preventDefault()
    if (typed.new !== typed.again) return
    void run(async () => {
      const session = await put<SessionInfo>(url('session/password'), { old_password: typed.old, password: typed.new })
      setCsrf(session.csrf)
    }).then((done) => {
      setDone(done)
      if (done) setTyped(EMPTY)
    })
  }
  return (
    <Panel title={t('account.password.title')}>
      <form onSubmit={send}>
        <PasswordField label={t('account.password.old')} current value={typed.old} onChange={(old) => change({ old })} />
        <PasswordField label={t('account.password.new')} value={typed.new} onChange={(value) => change({ new: value })} />
        <PasswordField label={t('account.password.repeat')} value={typed.again} onChange={(again) => change({ again })} />
        <p className="soft">{t('account.password.rules')}</p>
        <ErrorMessage message={differ ? t('account.password.differ') : error} />
        {isDone && <p role="status">{t('account.password.changed')}</p>}
        <button type="submit" disabled={busy || differ}>
          {t('account.password.change')}
        </button>
      </form>
    </Panel>
  )
}
