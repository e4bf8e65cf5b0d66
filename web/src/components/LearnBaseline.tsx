import { useState } from 'react'
import { post, url } from '../api/client'
import { useLive, useReload } from '../api/useLive'
import { useAction } from '../lib/useAction'
import { FewMinutes, LearningMinutes } from './LearningMinutes'
import { LevelMeter } from './LevelMeter'
import { Panel } from './Panel'
import { ErrorMessage } from './ErrorMessage'
import { Progress } from './Progress'

/** Collects minutes of normal sound, from which the baseline is learned. */
export function LearnBaseline({ id, onDone }: { id: string; onDone: () => void }) {
  const machine = useLive().machines[id]
  const reload = useReload()
  const [minutes, setMinutes] = useState(15)
  const [hasStarted, setStarted] = useState(false)
  const action = useAction()
  const learn = () =>
    action.run(() => post(url(`machines/${id}/learn`), { minutes }).then(reload)).then(setStarted)
  const isLearning = machine?.learning != null
  const isLearned = machine?.thresholds != null && !isLearning
  return (
    <Panel title="Learn a baseline">
      <p>
        Let the machine run healthy, at all its usual loads and speeds. Fifteen minutes are a good start, an hour is better.
      </p>
      {isLearning && machine.learning ? (
        <Progress seconds={machine.learning.seconds} target={machine.learning.target_seconds} />
      ) : (
        <div className="buttons">
          <LearningMinutes minutes={minutes} onChange={setMinutes} />
          <button type="button" className={isLearned ? '' : 'main'} disabled={action.busy || !(minutes >= 1)} onClick={() => void learn()}>
            {hasStarted || isLearned ? 'Learn again' : 'Learn now'}
          </button>
        </div>
      )}
      {!isLearning && <FewMinutes minutes={minutes} />}
      {machine && <LevelMeter level={machine.level_dbfs} sensor={machine.sensor} />}
      <ErrorMessage message={action.error} />
      <button type="button" className={isLearned ? 'main' : ''} onClick={onDone}>
        {isLearned ? 'Finish' : 'Continue: it learns in the background'}
      </button>
    </Panel>
  )
}
