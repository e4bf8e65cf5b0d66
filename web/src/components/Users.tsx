import { useContext, useState, type FormEvent } from 'react'
import type { Role, UserInfo } from '../api/types'
import { post, url } from '../api/client'
import { useFetched } from '../api/useFetched'
import { LiveContext, useLive } from '../api/useLive'
import { useAction } from '../lib/useAction'
import { t } from '../i18n'
import { ErrorMessage } from './ErrorMessage'
import { Panel } from './Panel'
import { PasswordField } from './PasswordField'
import { RoleSelect } from './RoleSelect'
import { UserRow } from './UserRow'

/** All accounts. Whoever creates the first one is signed in with it: from then on nobody comes in without. */
export function Users() {
  const { user: currentUser } = useLive()
  const live = useContext(LiveContext)
  const { content, error, refetch } = useFetched<UserInfo[]>(url('users'))
  const action = useAction()
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const [role, setRole] = useState<Role>('operator')
  const [isNewAdmin, setNewAdmin] = useState(false)
  const isFirst = content?.length === 0
  const add = (event: FormEvent) => {
    event.preventDefault()
    void action
      .run(async () => {
        if (isFirst) await live.createAdmin(name, password)
        else await post(url('users'), { name, role, password })
      })
      .then((done) => {
        if (!done) return
        setNewAdmin(isFirst)
        setName('')
        setPassword('')
        refetch()
      })
  }
  return (
    <Panel title={t('settings.users.title')}>
      {isFirst && (
        <p className="plain">
          {t('settings.users.none')} {t('account.users.first')}
        </p>
      )}
      {isNewAdmin && <p role="status">{t('account.users.signedIn', { name: currentUser?.name ?? '' })}</p>}
      <ul className="users">
        {content?.map((user) => (
          <UserRow key={user.name} user={user} isSelf={user.name === currentUser?.name} action={action} onChanged={refetch} />
        ))}
      </ul>
      <form className="row" onSubmit={add}>
        <label>
          {t('settings.users.name')}
          <input required autoComplete="off" value={name} onChange={(event) => setName(event.target.value)} />
        </label>
        <PasswordField label={t('settings.users.password')} value={password} onChange={setPassword} />
        {!isFirst && <RoleSelect label={t('settings.users.role')} role={role} onChange={setRole} />}
        <button type="submit" className={isFirst ? 'main' : ''} disabled={action.busy || !content}>
          {t(isFirst ? 'account.users.createAdmin' : 'settings.users.add')}
        </button>
        <p className="soft">{t('account.password.rules')}</p>
      </form>
      <ErrorMessage message={error || action.error} />
    </Panel>
  )
}
