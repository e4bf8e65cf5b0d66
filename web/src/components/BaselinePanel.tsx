import { useState } from 'react'
import type { MachineStatus } from '../api/types'
import { post, remove, url } from '../api/client'
import { useHasRole, useReload, useTimezone } from '../api/useLive'
import { t } from '../i18n'
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
import { said } from '../lib/sentences'

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
    <Panel title={t('baseline.title')} id={BASELINE}>
      {machine.baseline && <p>{t('baseline.sentence', { baseline: baselineText(machine.baseline, machine.listening === 'snapshots', zone) })}</p>}
      {machine.drift && (
        <p className="offer">{t('baseline.drift', { message: said(machine.drift), date: day(machine.drift.since, zone) })}</p>
      )}
      {machine.learning && <Progress seconds={machine.learning.seconds} target={machine.learning.target_seconds} />}
      {isAdmin && machine.learning && (
        <ConfirmButton
          title={t('baseline.stop')}
          question={t('baseline.stopQuestion')}
          confirm={t('baseline.stopConfirm')}
          cancel={t('baseline.stopCancel')}
          action={action}
          work={() => remove(url(`machines/${machine.id}/learn`)).then(reload)}
        />
      )}
      {isAdmin && !machine.learning && (
        <>
          {machine.thresholds && !machine.sensor?.at_intervals && (
            <>
              <p className="plain">{t('baseline.driftExplanation')}</p>
              <ConfirmButton
                title={t('baseline.acceptDrift')}
                question={t('baseline.acceptQuestion')}
                confirm={t('baseline.acceptConfirm')}
                action={action}
                work={accept}
              />
            </>
          )}
          <p className="plain">{isFirst ? t('baseline.learnFirst') : t('baseline.learnAfterRepair')}</p>
          <div className="buttons">
            <LearningMinutes minutes={minutes} onChange={setMinutes} />
            <ConfirmButton
              title={isFirst ? t('baseline.learn') : t('baseline.learnNew')}
              confirm={t('baseline.confirmLearn')}
              action={action}
              work={learn}
              disabled={!(minutes >= 1)}
            />
          </div>
          <FewMinutes minutes={minutes} />
        </>
      )}
      <RequiresRole role="admin" sentence="baseline.needsRole" />
      <ErrorMessage message={action.error} />
    </Panel>
  )
}
