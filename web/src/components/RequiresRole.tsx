import type { Role } from '../api/types'
import { useHasRole } from '../api/useLive'
import { t } from '../i18n'
import { ROLE_NAMES } from '../lib/roles'

interface Props {
  role: Role
  /** The key of a sentence with {{role}}. */
  sentence: string
}

/** For users without the role, in place of the controls: which role is needed. */
export function RequiresRole({ role, sentence }: Props) {
  return useHasRole(role) ? null : <p className="plain">{t(sentence, { role: ROLE_NAMES[role] })}</p>
}
