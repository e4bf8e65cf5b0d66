import { useState } from 'react'
import type { EventLabel, MachineEvent } from '../api/types'
import { post, url } from '../api/client'
import { useLive } from '../api/useLive'
import { link } from '../lib/route'
import { useAction } from '../lib/useAction'
import { ConfirmButton } from './ConfirmButton'
import { ErrorMessage } from './ErrorMessage'

const PERMANENT = 'Only a new baseline undoes this.'

/** What an event was. A normal sound is learned at once, so that label must be confirmed. */
export function EventLabels({ event, onChange }: { event: MachineEvent; onChange: (event: MachineEvent) => void }) {
  const { machines, service } = useLive()
  const action = useAction()
  const [wasLearned, setWasLearned] = useState(false)
  const machine = machines[event.machine]
  const isSound = event.kind === 'anomaly' && Boolean(machine?.model)
  const canLearn = isSound && service?.keeps_audio === true
  const isNormal = event.label === 'normal'
  const isFault = event.label === 'fault'
  const save = async (label: EventLabel) => {
    onChange(await post<MachineEvent>(url(`events/${event.id}/label`), { label }))
    setWasLearned(canLearn && isNormal)
  }
  const name = machine?.name || event.machine
  return (
    <>
      <div className="buttons" role="group" aria-label="Label">
        {canLearn ? (
          <ConfirmButton
            title="Mark as normal"
            pressed={isNormal}
            question={
              isNormal
                ? `Remove the label? ${name} has learned this sound and will not forget it. ${PERMANENT}`
                : `${name} learns this sound as normal and no longer raises alarms for it. ${PERMANENT}`
            }
            confirm={isNormal ? 'Remove the label' : 'It is normal: learn it'}
            action={action}
            work={() => save(isNormal ? '' : 'normal')}
          />
        ) : (
          <button type="button" disabled={action.busy} aria-pressed={isNormal} onClick={() => void action.run(() => save(isNormal ? '' : 'normal'))}>
            Mark as normal
          </button>
        )}
        <button type="button" disabled={action.busy} aria-pressed={isFault} onClick={() => void action.run(() => save(isFault ? '' : 'fault'))}>
          Mark as a fault
        </button>
      </div>
      <div role="status">
        {isNormal && canLearn && (
          <p className="warned">
            {name} learns this sound as normal{event.has_audio ? '' : ' once it has been recorded'}. {PERMANENT} The notes in{' '}
            <a href={link('settings')}>Settings</a> say when it is done.
          </p>
        )}
        {isNormal && isSound && !canLearn && (
          <p className="warned">This service keeps no recordings, so the sound cannot be learned: learn a new baseline instead.</p>
        )}
        {!isNormal && wasLearned && (
          <p className="warned">
            {name} has learned this sound as normal before and does not raise alarms for it. {PERMANENT}
          </p>
        )}
      </div>
      <ErrorMessage message={action.error} />
    </>
  )
}
