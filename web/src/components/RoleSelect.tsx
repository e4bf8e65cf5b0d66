import type { Role } from '../api/types'
import { t } from '../i18n'
import { ROLES } from '../lib/roles'

interface Props {
  label: string
  /** Where the text beside it says the same. */
  unseenLabel?: boolean
  role: Role
  disabled?: boolean
  onChange: (role: Role) => void
}

export function RoleSelect({ label, unseenLabel = false, role, disabled = false, onChange }: Props) {
  return (
    <label>
      <span className={unseenLabel ? 'unseen' : ''}>{label}</span>
      <select value={role} disabled={disabled} onChange={(event) => onChange(event.target.value as Role)}>
        {ROLES.map((each) => (
          <option key={each} value={each}>
            {t(`settings.users.roles.${each}`)}
          </option>
        ))}
      </select>
    </label>
  )
}
