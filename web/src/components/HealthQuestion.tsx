import type { MachineStatus } from '../api/types'
import { post, url } from '../api/client'
import { useHasRole, useReload, useTimezone } from '../api/useLive'
import { date } from '../lib/time'
import { useAction } from '../lib/useAction'
import { ErrorMessage } from './ErrorMessage'
import { RequiresRole } from './RequiresRole'

/** One question to a person while thresholds are provisional, in place of many alarms. */
export function HealthQuestion({ machine }: { machine: MachineStatus }) {
  const isOperator = useHasRole('operator')
  const zone = useTimezone()
  const reload = useReload()
  const { run, busy, error } = useAction()
  const { question } = machine
  if (!question) return null
  const answer = (healthy: boolean) => run(() => post(url(`machines/${machine.id}/commission`), { healthy }).then(reload))
  return (
    <section className="question" aria-label="Is it healthy?">
      <p>
        <strong>{question.message}</strong> <span className="soft">Since {date(question.since, zone)}.</span>
      </p>
      {isOperator && (
        <>
          <div className="buttons">
            <button type="button" className="main" disabled={busy} onClick={() => void answer(true)}>
              Yes, healthy
            </button>
            <button type="button" disabled={busy} onClick={() => void answer(false)}>
              No, something is wrong
            </button>
          </div>
          <p className="plain">If it is healthy, its thresholds are set by how it sounds now. If not, they stay, and it is monitored with them.</p>
        </>
      )}
      <RequiresRole role="operator" to="answer" />
      <ErrorMessage message={error} />
    </section>
  )
}
