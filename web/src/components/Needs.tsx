import type { Role } from '../api/types'
import { useMay } from '../api/useLive'

/** What the reader may not do is not shown; this says who may. Nothing for those who may. */
export function Needs({ role, to }: { role: Role; to: string }) {
  return useMay(role) ? null : <p className="plain">{`To ${to} you need the role ${role}.`}</p>
}
