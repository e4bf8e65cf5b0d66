import { useState } from 'react'
import type { MachineStatus } from '../api/types'
import { post, remove, url } from '../api/client'
import { useHasRole, useReload, useTimezone } from '../api/useLive'
import { baselineText } from '../lib/baseline'
import { needsBaseline } from '../lib/states'
import { day } from '../lib/time'
import { useAction } from '../lib/useAction'
import { ConfirmButton } from './ConfirmButton'
import { ErrorMessage } from './ErrorMessage'
import { FewMinutes, LearningMinutes } from './LearningMinutes'
import { Panel } from './Panel'
import { Progress } from './Progress'
import { RequiresRole } from './RequiresRole'

/** The id of the panel, for links to it. */
export const BASELINE = 'baseline'

/** What counts as normal: accept the drift of the sound, or learn a new baseline. */
export function BaselinePanel({ machine }: { machine: MachineStatus }) {
  const isAdmin = useHasRole('admin')
  const zone = useTimezone()
  const reload = useReload()
  const action = useAction()
  const [minutes, setMinutes] = useState(15)
  const isFirst = needsBaseline(machine)
  const accept = () => post(url(`machines/${machine.id}/accept-drift`)).then(reload)
  const learn = () => post(url(`machines/${machine.id}/learn`), { minutes }).then(reload)
  return (
    <Panel title="Baseline" id={BASELINE}>
      {machine.baseline && <p>{baselineText(machine.baseline, zone)}.</p>}
      {machine.drift && (
        <p className="offer">
          {machine.drift.message} Since {day(machine.drift.since, zone)}.
        </p>
      )}
      {machine.learning && <Progress seconds={machine.learning.seconds} target={machine.learning.target_seconds} />}
      {isAdmin && machine.learning && (
        <ConfirmButton
          title="Stop learning"
          question="The collected sound is discarded, and the previous baseline stays."
          confirm="Stop and discard"
          cancel="Continue learning"
          action={action}
          work={() => remove(url(`machines/${machine.id}/learn`)).then(reload)}
        />
      )}
      {isAdmin && !machine.learning && (
        <>
          {machine.thresholds && !machine.sensor?.at_intervals && (
            <>
              <p className="plain">
                If the sound has changed and the cause is harmless, accept the drift: the sound of the last ten minutes becomes normal.
              </p>
              <ConfirmButton
                title="Accept the drift"
                question="Is the change harmless? The thresholds move to the sound of the last ten minutes, and an active alarm ends. A fault that was present in that time is no longer detected."
                confirm="It is harmless: accept"
                action={action}
                work={accept}
              />
            </>
          )}
          <p className="plain">
            {isFirst
              ? 'Learn a baseline first: let the machine run healthy, at all its usual loads and speeds. Until then it is not monitored.'
              : 'After a repair or a change of use, learn a new baseline. The machine is not monitored while it learns.'}
          </p>
          <div className="buttons">
            <LearningMinutes minutes={minutes} onChange={setMinutes} />
            <ConfirmButton
              title={isFirst ? 'Learn a baseline' : 'Learn a new baseline'}
              confirm="The machine runs normally: learn now"
              action={action}
              work={learn}
              disabled={!(minutes >= 1)}
            />
          </div>
          <FewMinutes minutes={minutes} />
        </>
      )}
      <RequiresRole role="admin" to="change the baseline" />
      <ErrorMessage message={action.error} />
    </Panel>
  )
}
