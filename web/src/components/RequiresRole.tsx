import type { Role } from '../api/types'
import { useHasRole } from '../api/useLive'

/** For users without the role, in place of the controls: which role is needed. */
export function RequiresRole({ role, to }: { role: Role; to: string }) {
  return useHasRole(role) ? null : <p className="plain">{`To ${to} you need the role ${role}.`}</p>
}
