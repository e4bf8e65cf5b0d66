import type { MachineStatus } from '../api/types'
import { post, url } from '../api/client'
import { useHasRole, useReload, useTimezone } from '../api/useLive'
import { t } from '../i18n'
import { date } from '../lib/time'
import { useAction } from '../lib/useAction'
import { ErrorMessage } from './ErrorMessage'
import { RequiresRole } from './RequiresRole'
import { said } from '../lib/sentences'

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
    <section className="question" aria-label={t('machine.health.label')}>
      <p>
        <strong>{said(question)}</strong> <span className="soft">{t('machine.health.since', { date: date(question.since, zone) })}</span>
      </p>
      {isOperator && (
        <>
          <div className="buttons">
            <button type="button" className="main" disabled={busy} onClick={() => void answer(true)}>
              {t('machine.health.yes')}
            </button>
            <button type="button" disabled={busy} onClick={() => void answer(false)}>
              {t('machine.health.no')}
            </button>
          </div>
          <p className="plain">{t('machine.health.explanation')}</p>
        </>
      )}
      <RequiresRole role="operator" sentence="machine.health.needsRole" />
      <ErrorMessage message={error} />
    </section>
  )
}
