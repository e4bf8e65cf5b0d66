import { useDeferredValue, useState } from 'react'
import type { MachineStatus, Thresholds } from '../api/types'
import { put, url } from '../api/client'
import { useFetched } from '../api/useFetched'
import { useHasRole, useReload, useTimezone } from '../api/useLive'
import { commissioningText } from '../lib/baseline'
import { FALSE_ALERT_STOPS, falseAlerts, nearestStop, score } from '../lib/numbers'
import { useAction } from '../lib/useAction'
import { ErrorMessage } from './ErrorMessage'
import { Panel } from './Panel'
import { RequiresRole } from './RequiresRole'

const TITLE = 'Thresholds'

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
      <Panel title={TITLE}>
        <p className="plain">There are no thresholds yet: learn a baseline first.</p>
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
    <Panel title={TITLE} aside={shown.provisional && <span className="tag">Provisional threshold</span>}>
      {!isFixed && (
        <label className="slider">
          <span>
            Accept <strong>{falseAlerts(chosen)}</strong>
          </span>
          <input
            type="range"
            min={0}
            max={FALSE_ALERT_STOPS.length - 1}
            step={1}
            value={stop}
            disabled={!isAdmin}
            aria-label="Acceptable false alerts"
            aria-valuetext={falseAlerts(chosen)}
            onChange={(event) => setMovedTo(Number(event.target.value))}
          />
          <span className="ends">
            <span>fewer false alerts, slower</span>
            <span>more, faster</span>
          </span>
        </label>
      )}
      <dl className="figures">
        <div>
          <dt>Alert from</dt>
          <dd>{score(shown.alert)}</dd>
        </div>
        <div>
          <dt>Alarm from</dt>
          <dd>{score(shown.alarm)}</dd>
        </div>
        <div>
          <dt>Score now</dt>
          <dd>{score(machine.smoothed)}</dd>
        </div>
      </dl>
      <p className={shown.provisional ? 'plain basis warned' : 'plain basis'}>{shown.message}</p>
      {machine.baseline && !isFixed && <p className="plain">{commissioningText(machine.baseline, zone)}</p>}
      {movedTo !== null && (
        <div className="buttons">
          <button type="button" className="main" disabled={busy || chosen === current} onClick={() => void save()}>
            Use these thresholds
          </button>
          <button type="button" onClick={() => setMovedTo(null)}>
            Cancel
          </button>
        </div>
      )}
      {!isFixed && <RequiresRole role="admin" to="change the thresholds" />}
      <ErrorMessage message={error || preview.error} />
    </Panel>
  )
}
