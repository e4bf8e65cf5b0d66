import { useDeferredValue, useState } from 'react'
import type { Machine, Thresholds } from '../api/types'
import { put, url } from '../api/client'
import { useFetched } from '../api/useFetched'
import { useMay, useReload } from '../api/useLive'
import { nearestStop, score, weekly, WEEKLY_STOPS } from '../lib/numbers'
import { useAction } from '../lib/useAction'
import { Needs } from './Needs'
import { Panel } from './Panel'
import { Problem } from './Problem'

/** How many false alarms are put up with; the limits follow from the normal sound that was heard. */
export function ThresholdPanel({ machine }: { machine: Machine }) {
  const may = useMay('admin')
  const reload = useReload()
  const { run, busy, error } = useAction()
  const [moved, setMoved] = useState<number | null>(null)
  const kept = machine.thresholds?.per_week ?? 1
  const stop = moved ?? nearestStop(kept)
  const perWeek = moved === null ? kept : (WEEKLY_STOPS[stop] ?? 1)
  const asked = useDeferredValue(perWeek)
  const offered = useFetched<Thresholds>(
    moved === null ? null : url(`machines/${machine.id}/thresholds`, { per_week: asked }),
  )
  if (!machine.thresholds)
    return (
      <Panel title="False alarms">
        <p className="plain">Limits appear when the normal sound has been learnt.</p>
      </Panel>
    )
  const shown = (moved === null ? null : offered.content) ?? machine.thresholds
  const keep = () =>
    run(() => put(url(`machines/${machine.id}/thresholds`), { per_week: perWeek }).then(reload)).then((done) => {
      if (done) setMoved(null)
    })
  return (
    <Panel title="False alarms">
      <label className="slider">
        <span>
          Put up with <strong>{weekly(perWeek)}</strong>
        </span>
        <input
          type="range"
          min={0}
          max={WEEKLY_STOPS.length - 1}
          step={1}
          value={stop}
          disabled={!may}
          aria-label="False alarms put up with"
          aria-valuetext={weekly(perWeek)}
          onChange={(event) => setMoved(Number(event.target.value))}
        />
        <span className="ends">
          <span>fewer, hears later</span>
          <span>more, hears earlier</span>
        </span>
      </label>
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
          <dd>{score(machine.score)}</dd>
        </div>
      </dl>
      <p className={shown.extrapolated ? 'plain basis warned' : 'plain basis'}>
        {shown.extrapolated && <strong>Extrapolated: </strong>}
        {shown.words}
      </p>
      {moved !== null && (
        <div className="buttons">
          <button type="button" className="main" disabled={busy || perWeek === kept} onClick={() => void keep()}>
            Use these limits
          </button>
          <button type="button" onClick={() => setMoved(null)}>
            Leave as it was
          </button>
        </div>
      )}
      <Needs role="admin" to="change the limits" />
      <Problem words={error || offered.error} />
    </Panel>
  )
}
