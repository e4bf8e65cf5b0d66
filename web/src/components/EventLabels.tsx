import { useState } from 'react'
import type { EventLabel, MachineEvent } from '../api/types'
import { post, url } from '../api/client'
import { useLive } from '../api/useLive'
import { link } from '../lib/route'
import { useAction } from '../lib/useAction'
import { Ask } from './Ask'
import { Problem } from './Problem'

const STAYS = 'Only a new baseline undoes that.'

/** What an event was. That it was normal is learnt at once, and so is asked a second time. */
export function EventLabels({ event, onChange }: { event: MachineEvent; onChange: (event: MachineEvent) => void }) {
  const { machines, plant } = useLive()
  const action = useAction()
  const [hasLearnt, setLearnt] = useState(false)
  const machine = machines[event.machine]
  const isSound = event.kind === 'anomaly' && Boolean(machine?.model)
  const isTaught = isSound && plant?.keeps_audio === true
  const isNormal = event.label === 'normal'
  const isFault = event.label === 'fault'
  const say = async (label: EventLabel) => {
    onChange(await post<MachineEvent>(url(`events/${event.id}/label`), { label }))
    setLearnt(isTaught && isNormal)
  }
  const name = machine?.name || event.machine
  return (
    <>
      <div className="buttons" role="group" aria-label="What it was">
        {isTaught ? (
          <Ask
            offer="This is normal"
            pressed={isNormal}
            question={
              isNormal
                ? `Take this word back? What ${name} has learnt from it stays. ${STAYS}`
                : `${name} takes this sound as normal from now on and no longer alarms at it. ${STAYS}`
            }
            yes={isNormal ? 'Take the word back' : 'It is normal: learn it'}
            action={action}
            work={() => say(isNormal ? '' : 'normal')}
          />
        ) : (
          <button type="button" disabled={action.busy} aria-pressed={isNormal} onClick={() => void action.run(() => say(isNormal ? '' : 'normal'))}>
            This is normal
          </button>
        )}
        <button type="button" disabled={action.busy} aria-pressed={isFault} onClick={() => void action.run(() => say(isFault ? '' : 'fault'))}>
          Confirmed fault
        </button>
      </div>
      <div role="status">
        {isNormal && isTaught && (
          <p className="warned">
            {event.has_audio ? 'Taken up' : 'Taken up once its recording is there'}: {name} learns this sound as normal. {STAYS} The
            notes in <a href={link('settings')}>Settings</a> tell when it is done.
          </p>
        )}
        {isNormal && isSound && !isTaught && (
          <p className="warned">No sound is kept here, so that none can be learnt as normal: take a new baseline instead.</p>
        )}
        {!isNormal && hasLearnt && (
          <p className="warned">
            {name} learnt this sound as normal before, and that stays: it does not alarm at it. {STAYS}
          </p>
        )}
      </div>
      <Problem words={action.error} />
    </>
  )
}
