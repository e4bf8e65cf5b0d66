import { useState } from 'react'
import type { EventLabel, MachineEvent } from '../api/types'
import { post, url } from '../api/client'
import { useLive } from '../api/useLive'
import { t } from '../i18n'
import { rich } from '../i18n/rich'
import { link } from '../lib/route'
import { useAction } from '../lib/useAction'
import { ConfirmButton } from './ConfirmButton'
import { ErrorMessage } from './ErrorMessage'

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
      <div className="buttons" role="group" aria-label={t('event.labels.label')}>
        {canLearn ? (
          <ConfirmButton
            title={t('event.labels.normal')}
            pressed={isNormal}
            question={
              isNormal
                ? t('event.labels.removeQuestion', { machine: name })
                : t('event.labels.learnQuestion', { machine: name })
            }
            confirm={isNormal ? t('event.labels.remove') : t('event.labels.learn')}
            action={action}
            work={() => save(isNormal ? '' : 'normal')}
          />
        ) : (
          <button type="button" disabled={action.busy} aria-pressed={isNormal} onClick={() => void action.run(() => save(isNormal ? '' : 'normal'))}>
            {t('event.labels.normal')}
          </button>
        )}
        <button type="button" disabled={action.busy} aria-pressed={isFault} onClick={() => void action.run(() => save(isFault ? '' : 'fault'))}>
          {t('event.labels.fault')}
        </button>
      </div>
      <div role="status">
        {isNormal && canLearn && (
          <p className="warned">
            {rich(
              event.has_audio ? 'event.labels.learns' : 'event.labels.willLearn',
              { a: (text) => <a href={link('settings')}>{text}</a> },
              { machine: name },
            )}
          </p>
        )}
        {isNormal && isSound && !canLearn && (
          <p className="warned">{t('event.labels.cannotLearn')}</p>
        )}
        {!isNormal && wasLearned && (
          <p className="warned">{t('event.labels.hasLearned', { machine: name })}</p>
        )}
      </div>
      <ErrorMessage message={action.error} />
    </>
  )
}
