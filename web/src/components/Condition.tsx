import type { MachineStatus } from '../api/types'
import { rich } from '../i18n/rich'
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
          {rich(
            'condition.severity',
            { strong: (text) => <strong className={`grade ${severity.grade}`}>{text}</strong> },
            { grade: GRADE_NAMES[severity.grade], severity: severityText(severity) },
          )}
        </p>
      )}
      {reaches && (
        <p>
          {rich(
            'condition.outlook',
            { strong: (text) => <strong>{text}</strong>, soft: (text) => <span className="soft">{text}</span> },
            { reaches },
          )}
        </p>
      )}
    </div>
  )
}
