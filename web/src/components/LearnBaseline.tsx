import { useState } from 'react'
import { post, url } from '../api/client'
import { useLive, useReload } from '../api/useLive'
import { t } from '../i18n'
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
    <Panel title={t('baseline.learn')}>
      <p>{t('add.howToLearn')}</p>
      {isLearning && machine.learning ? (
        <Progress seconds={machine.learning.seconds} target={machine.learning.target_seconds} />
      ) : (
        <div className="buttons">
          <LearningMinutes minutes={minutes} onChange={setMinutes} />
          <button type="button" className={isLearned ? '' : 'main'} disabled={action.busy || !(minutes >= 1)} onClick={() => void learn()}>
            {hasStarted || isLearned ? t('add.learnAgain') : t('add.learnNow')}
          </button>
        </div>
      )}
      {!isLearning && <FewMinutes minutes={minutes} />}
      {machine && <LevelMeter level={machine.level_dbfs} sensor={machine.sensor} />}
      <ErrorMessage message={action.error} />
      <button type="button" className={isLearned ? 'main' : ''} onClick={onDone}>
        {isLearned ? t('add.finish') : isLearning ? t('add.continue') : t('add.learnLater')}
      </button>
    </Panel>
  )
}
