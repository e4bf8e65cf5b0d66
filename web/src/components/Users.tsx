import { useState, type FormEvent } from 'react'
import type { UserInfo } from '../api/types'
import { post, remove, url } from '../api/client'
import { useFetched } from '../api/useFetched'
import { useLive } from '../api/useLive'
import { useAction } from '../lib/useAction'
import { ConfirmButton } from './ConfirmButton'
import { Panel } from './Panel'
import { ErrorMessage } from './ErrorMessage'

const ROLES: readonly [UserInfo['role'], string][] = [
  ['viewer', 'viewer: can read'],
  ['operator', 'operator: can also acknowledge, label and mute'],
  ['admin', 'admin: can do everything'],
]

export function Users() {
  const { user: currentUser } = useLive()
  const { content, error, refetch } = useFetched<UserInfo[]>(url('users'))
  const action = useAction()
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const [role, setRole] = useState<UserInfo['role']>('operator')
  const add = (event: FormEvent) => {
    event.preventDefault()
    void action.run(() => post(url('users'), { name, role, password })).then((done) => {
      if (!done) return
      setName('')
      setPassword('')
      refetch()
    })
  }
  return (
    <Panel title="Users">
      {content?.length === 0 && (
        <p className="plain">No users yet: everyone at this computer may do everything. Create an admin first.</p>
      )}
      <table>
        <tbody>
          {content?.map((user) => (
            <tr key={user.name}>
              <td>{user.name}</td>
              <td className="soft">{user.role}</td>
              <td className="number">
                <ConfirmButton
                  title="Remove"
                  label={`Remove ${user.name}`}
                  confirm={`Remove ${user.name}`}
                  cancel="Keep"
                  danger
                  action={action}
                  disabled={user.name === currentUser?.name}
                  work={() => remove(url(`users/${encodeURIComponent(user.name)}`)).then(refetch)}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <form className="row" onSubmit={add}>
        <label>
          Name
          <input required autoComplete="off" value={name} onChange={(event) => setName(event.target.value)} />
        </label>
        <label>
          Password
          <input
            type="password"
            required
            autoComplete="new-password"
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
        </label>
        <label>
          Role
          <select value={role} onChange={(event) => setRole(event.target.value as UserInfo['role'])}>
            {ROLES.map(([value, title]) => (
              <option key={value} value={value}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <button type="submit" disabled={action.busy}>
          Add user
        </button>
      </form>
      <ErrorMessage message={error || action.error} />
    </Panel>
  )
}
