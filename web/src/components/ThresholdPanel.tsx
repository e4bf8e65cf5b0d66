import { useDeferredValue, useState } from 'react'
import type { MachineStatus, Thresholds } from '../api/types'
import { put, url } from '../api/client'
import { useFetched } from '../api/useFetched'
import { useHasRole, useReload, useTimezone } from '../api/useLive'
import { t } from '../i18n'
import { rich } from '../i18n/rich'
import { commissioningText } from '../lib/baseline'
import { FALSE_ALERT_STOPS, falseAlerts, nearestStop, score } from '../lib/numbers'
import { said } from '../lib/sentences'
import { useAction } from '../lib/useAction'
import { ErrorMessage } from './ErrorMessage'
import { Panel } from './Panel'
import { RequiresRole } from './RequiresRole'
import { Score } from './Score'

/** How many false alerts are acceptable; the thresholds follow from the normal sound. */
export function ThresholdPanel({ machine }: { machine: MachineStatus }) {
  const isAdmin = useHasRole('admin')
  const zone = useTimezone()
  const reload = useReload()
  const { run, busy, error } = useAction()
  const [movedTo, setMovedTo] = useState<number | null>(null)
  const current = machine.thresholds?.false_alerts_per_week ?? 1
  const stop = movedTo ?? nearestStop(current)
  const chosen = movedTo === null ? current : (FALSE_ALERT_STOPS[stop] ?? 1)
  const deferred = useDeferredValue(chosen)
  const preview = useFetched<Thresholds>(
    movedTo === null ? null : url(`machines/${machine.id}/thresholds`, { false_alerts_per_week: deferred }),
  )
  if (!machine.thresholds)
    return (
      <Panel title={t('machine.thresholds.title')}>
        <p className="plain">{t('machine.thresholds.none')}</p>
      </Panel>
    )
  // Limits of change are the same for all machines: there is nothing to choose.
  const isFixed = machine.sensor?.at_intervals ?? false
  const shown = (movedTo === null ? null : preview.content) ?? machine.thresholds
  const save = () =>
    run(() => put(url(`machines/${machine.id}/thresholds`), { false_alerts_per_week: chosen }).then(reload)).then((done) => {
      if (done) setMovedTo(null)
    })
  return (
    <Panel
      title={t('machine.thresholds.title')}
      aside={shown.provisional && <span className="tag">{t('machine.thresholds.provisional')}</span>}
    >
      {!isFixed && (
        <label className="slider">
          <span>
            {rich('machine.thresholds.accept', { strong: (text) => <strong>{text}</strong> }, { falseAlerts: falseAlerts(chosen) })}
          </span>
          <input
            type="range"
            min={0}
            max={FALSE_ALERT_STOPS.length - 1}
            step={1}
            value={stop}
            disabled={!isAdmin}
            aria-label={t('machine.thresholds.label')}
            aria-valuetext={falseAlerts(chosen)}
            onChange={(event) => setMovedTo(Number(event.target.value))}
          />
          <span className="ends">
            <span>{t('machine.thresholds.fewer')}</span>
            <span>{t('machine.thresholds.more')}</span>
          </span>
        </label>
      )}
      <dl className="figures">
        <div>
          <dt>{t('machine.thresholds.alertFrom')}</dt>
          <dd>{score(shown.alert)}</dd>
        </div>
        <div>
          <dt>{t('machine.thresholds.alarmFrom')}</dt>
          <dd>{score(shown.alarm)}</dd>
        </div>
        <div>
          <dt>{t('machine.thresholds.scoreNow')}</dt>
          <dd>
            <Score value={machine.smoothed} thresholds={shown} />
          </dd>
        </div>
      </dl>
      <p className={shown.provisional ? 'plain basis warned' : 'plain basis'}>{said(shown)}</p>
      {machine.baseline && !isFixed && <p className="plain">{commissioningText(machine.baseline, zone)}</p>}
      {movedTo !== null && (
        <div className="buttons">
          <button type="button" className="main" disabled={busy || chosen === current} onClick={() => void save()}>
            {t('machine.thresholds.use')}
          </button>
          <button type="button" onClick={() => setMovedTo(null)}>
            {t('common.cancel')}
          </button>
        </div>
      )}
      {!isFixed && <RequiresRole role="admin" sentence="machine.thresholds.needsRole" />}
      <ErrorMessage message={error || preview.error} />
    </Panel>
  )
}
