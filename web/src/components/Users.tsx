import { useState, type FormEvent } from 'react'
import type { You } from '../api/types'
import { post, remove, url } from '../api/client'
import { useFetched } from '../api/useFetched'
import { useLive } from '../api/useLive'
import { useAction } from '../lib/useAction'
import { Ask } from './Ask'
import { Panel } from './Panel'
import { Problem } from './Problem'

const ROLES: readonly [You['role'], string][] = [
  ['viewer', 'viewer: reads'],
  ['operator', 'operator: also acknowledges, labels, mutes'],
  ['admin', 'admin: everything'],
]

export function Users() {
  const { you } = useLive()
  const { content, error, again } = useFetched<You[]>(url('users'))
  const action = useAction()
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const [role, setRole] = useState<You['role']>('operator')
  const add = (event: FormEvent) => {
    event.preventDefault()
    void action.run(() => post(url('users'), { name, role, password })).then((done) => {
      if (!done) return
      setName('')
      setPassword('')
      again()
    })
  }
  return (
    <Panel title="Users">
      {content?.length === 0 && (
        <p className="plain">No users yet: everybody at this computer may do everything. Begin with one of role admin.</p>
      )}
      <table>
        <tbody>
          {content?.map((user) => (
            <tr key={user.name}>
              <td>{user.name}</td>
              <td className="soft">{user.role}</td>
              <td className="number">
                <Ask
                  offer="Remove"
                  label={`Remove ${user.name}`}
                  yes={`Remove ${user.name}`}
                  no="Keep"
                  danger
                  action={action}
                  disabled={user.name === you?.name}
                  work={() => remove(url(`users/${encodeURIComponent(user.name)}`)).then(again)}
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
          <select value={role} onChange={(event) => setRole(event.target.value as You['role'])}>
            {ROLES.map(([value, title]) => (
              <option key={value} value={value}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <button type="submit" disabled={action.busy}>
          Add
        </button>
      </form>
      <Problem words={error || action.error} />
    </Panel>
  )
}
