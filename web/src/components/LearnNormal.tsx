import { useState } from 'react'
import type { Machine } from '../api/types'
import { post, url } from '../api/client'
import { useFetched } from '../api/useFetched'
import { useAction } from '../lib/useAction'
import { FewMinutes, LearningMinutes } from './LearningMinutes'
import { LevelMeter } from './LevelMeter'
import { Panel } from './Panel'
import { Problem } from './Problem'
import { Progress } from './Progress'

/** Minutes of normal sound, from which the machine's baseline is fitted. */
export function LearnNormal({ id, onLearnt }: { id: string; onLearnt: () => void }) {
  const { content: machine, error, again } = useFetched<Machine>(url(`machines/${id}`), 1)
  const [minutes, setMinutes] = useState(15)
  const [hasBegun, setBegun] = useState(false)
  const action = useAction()
  const learn = () =>
    action.run(() => post(url(`machines/${id}/learn`), { minutes })).then((done) => {
      setBegun(done)
      again()
    })
  const isLearning = machine?.learning != null
  const isLearnt = machine?.thresholds != null && !isLearning
  return (
    <Panel title="Learn the normal sound">
      <p>
        The machine should run as it usually does, in all its usual ways, and be healthy. Fifteen minutes are a beginning;
        an hour is better.
      </p>
      {isLearning && machine.learning ? (
        <Progress done={machine.learning.seconds} wanted={machine.learning.wanted} />
      ) : (
        <div className="buttons">
          <LearningMinutes minutes={minutes} onChange={setMinutes} />
          <button type="button" className={isLearnt ? '' : 'main'} disabled={action.busy || !(minutes >= 1)} onClick={() => void learn()}>
            {hasBegun || isLearnt ? 'Learn again' : 'Learn now'}
          </button>
        </div>
      )}
      {!isLearning && <FewMinutes minutes={minutes} />}
      {machine && <LevelMeter level={machine.level_dbfs} />}
      <Problem words={error || action.error} />
      <button type="button" className={isLearnt ? 'main' : ''} onClick={onLearnt}>
        {isLearnt ? 'Watch it' : 'Go on: it learns by itself'}
      </button>
    </Panel>
  )
}
