import type { MachineStatus } from '../api/types'
import { outlookText } from '../lib/outlook'
import { GRADE_NAMES, severityText } from '../lib/severity'

/** How bad the change of a machine is, and when it will reach alarm; nothing where nobody can tell. */
export function Condition({ severity, outlook, now }: Pick<MachineStatus, 'severity' | 'outlook'> & { now: number }) {
  const reaches = outlookText(outlook, now)
  if (!severity && !reaches) return null
  return (
    <div className="condition">
      {severity && (
        <p>
          <strong className={`grade ${severity.grade}`}>{GRADE_NAMES[severity.grade]}</strong>: {severityText(severity)}
        </p>
      )}
      {reaches && (
        <p>
          <strong>{reaches}</strong> <span className="soft">(probability 80 %)</span>
        </p>
      )}
    </div>
  )
}
