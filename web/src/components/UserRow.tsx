import { useState } from 'react'
import type { Role, UserInfo } from '../api/types'
import { put, remove, url } from '../api/client'
import { useReturnFocus } from '../lib/focus'
import type { Action } from '../lib/useAction'
import { t } from '../i18n'
import { ConfirmButton } from './ConfirmButton'
import { ResetPassword } from './ResetPassword'
import { RoleSelect } from './RoleSelect'

interface Props {
  user: UserInfo
  isSelf: boolean
  action: Action
  onChanged: () => void
}

/** One account: its role, a new password, and its end. */
export function UserRow({ user, isSelf, action, onChanged }: Props) {
  const [isResetting, setResetting] = useState(false)
  const [wasReset, setWasReset] = useState(false)
  const reset = useReturnFocus<HTMLButtonElement>(isResetting)
  const { name } = user
  const address = `users/${encodeURIComponent(name)}`
  const setRole = (role: Role) => action.run(() => put(url(`${address}/role`), { role })).then(onChanged)
  return (
    <li className="user">
      <strong>{name}</strong>
      <RoleSelect
        label={t('account.users.roleOf', { name })}
        unseenLabel
        role={user.role}
        disabled={isSelf || action.busy}
        onChange={(role) => void setRole(role)}
      />
      {!isSelf && (
        <div className="buttons">
          <button
            ref={reset}
            type="button"
            aria-label={t('account.users.resetOf', { name })}
            aria-expanded={isResetting}
            onClick={() => setResetting(!isResetting)}
          >
            {t('account.users.reset')}
          </button>
          <ConfirmButton
            title={t('common.remove')}
            label={t('settings.users.removeUser', { name })}
            confirm={t('settings.users.removeUser', { name })}
            cancel={t('settings.users.keep')}
            danger
            action={action}
            work={() => remove(url(address)).then(onChanged)}
          />
        </div>
      )}
      {isResetting && (
        <ResetPassword
          name={name}
          onClose={(wasSet) => {
            setResetting(false)
            setWasReset(wasSet)
          }}
        />
      )}
      {wasReset && !isResetting && <p role="status">{t('account.users.wasReset', { name })}</p>}
    </li>
  )
}
