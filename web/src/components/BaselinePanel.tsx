import { useState } from 'react'
import type { Machine } from '../api/types'
import { post, remove, url } from '../api/client'
import { useMay, useReload, useZone } from '../api/useLive'
import { waitsToLearn } from '../lib/states'
import { day } from '../lib/time'
import { useAction } from '../lib/useAction'
import { Ask } from './Ask'
import { FewMinutes, LearningMinutes } from './LearningMinutes'
import { Needs } from './Needs'
import { Panel } from './Panel'
import { Problem } from './Problem'
import { Progress } from './Progress'

/** By which the head of the page leads here. */
export const BASELINE = 'baseline'

/** What counts as normal: moved to how it sounds now, or learnt anew. */
export function BaselinePanel({ machine }: { machine: Machine }) {
  const may = useMay('admin')
  const zone = useZone()
  const reload = useReload()
  const action = useAction()
  const [minutes, setMinutes] = useState(15)
  const isFirst = waitsToLearn(machine)
  const take = () => post(url(`machines/${machine.id}/rebaseline`)).then(reload)
  const learn = () => post(url(`machines/${machine.id}/learn`), { minutes }).then(reload)
  return (
    <Panel title="Baseline" id={BASELINE}>
      {machine.drift && (
        <div className="offer">
          <p>
            {machine.drift.words} Since {day(machine.drift.since, zone)}.
          </p>
          {may && (
            <button type="button" disabled={action.busy} onClick={() => void action.run(take)}>
              Harmless: take it as the new normal
            </button>
          )}
        </div>
      )}
      {machine.learning && <Progress done={machine.learning.seconds} wanted={machine.learning.wanted} />}
      {may && machine.learning && (
        <Ask
          offer="Stop learning"
          question="What was collected is thrown away, and it is judged as before."
          yes="Stop and throw away"
          no="Go on learning"
          action={action}
          work={() => remove(url(`machines/${machine.id}/learn`)).then(reload)}
        />
      )}
      {may && !machine.learning && (
        <>
          {machine.thresholds && (
            <>
              <p className="plain">It sounds different now, and someone has made sure that this is harmless:</p>
              <Ask
                offer="Take the last ten minutes as normal"
                question="Was it harmless? Its limits move to how it ran in the last ten minutes, and an alarm that stands ends. A fault that it had in that time is no longer heard."
                yes="It was harmless: take it"
                action={action}
                work={take}
              />
            </>
          )}
          <p className="plain">
            {isFirst
              ? 'Learn its normal sound first: let it run as it usually does, in all its usual ways, and healthy. Until then nothing is judged.'
              : 'After a repair or a change of use the normal sound is another one. While it is learnt, nothing is judged.'}
          </p>
          <div className="buttons">
            <LearningMinutes minutes={minutes} onChange={setMinutes} />
            <Ask
              offer={isFirst ? 'Learn its normal sound' : 'Learn a new baseline'}
              yes="The machine runs normally: learn now"
              action={action}
              work={learn}
              disabled={!(minutes >= 1)}
            />
          </div>
          <FewMinutes minutes={minutes} />
        </>
      )}
      <Needs role="admin" to="change what is normal" />
      <Problem words={action.error} />
    </Panel>
  )
}
