import { useEffect, useRef, useState, type KeyboardEvent } from 'react'
import type { MachineStatus, OperatingPoint } from '../api/types'
import { put, url } from '../api/client'
import { useHasRole, useReload } from '../api/useLive'
import { percent, score } from '../lib/numbers'
import { currentPoint, pointName } from '../lib/operatingPoints'
import { levelText } from '../lib/sensor'
import { useAction } from '../lib/useAction'
import { Panel } from './Panel'
import { ErrorMessage } from './ErrorMessage'

const LONGEST_NAME = 40

/** A name that can be edited in place: Enter saves, Escape cancels. */
function PointName({ machine, point }: { machine: MachineStatus; point: OperatingPoint }) {
  const isAdmin = useHasRole('admin')
  const reload = useReload()
  const { run, busy, error } = useAction()
  const [draft, setDraft] = useState<string | null>(null)
  const rename = useRef<HTMLButtonElement>(null)
  const wasEditing = useRef(false)
  useEffect(() => {
    if (wasEditing.current && draft === null) rename.current?.focus()
    wasEditing.current = draft !== null
  }, [draft])
  const shown = point.name || `Point ${point.number}`
  const save = () =>
    run(() => put(url(`machines/${machine.id}/operating-points/${point.number}`), { name: draft?.trim() }).then(reload)).then(
      (done) => {
        if (done) setDraft(null)
      },
    )
  const cancelOnEscape = (event: KeyboardEvent) => {
    if (event.key === 'Escape') setDraft(null)
  }
  if (draft === null)
    return (
      <span className="buttons">
        <strong>{shown}</strong>
        {isAdmin && (
          <button ref={rename} type="button" className="small" aria-label={point.name ? `Rename ${shown}` : `Add a name: ${shown}`} onClick={() => setDraft(point.name)}>
            {point.name ? 'Rename' : 'Add a name'}
          </button>
        )}
      </span>
    )
  return (
    <form
      className="row"
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      <input
        autoFocus
        value={draft}
        maxLength={LONGEST_NAME}
        placeholder="half load"
        aria-label={`Name of ${shown}`}
        onKeyDown={cancelOnEscape}
        onChange={(event) => setDraft(event.target.value)}
      />
      <button type="submit" disabled={busy}>
        Save
      </button>
      <button type="button" onClick={() => setDraft(null)}>
        Cancel
      </button>
      <ErrorMessage message={error} />
    </form>
  )
}

function sentence(machine: MachineStatus): string {
  const now = currentPoint(machine)
  const count = machine.operating_points.length
  if (machine.operating_point === 0)
    return 'Unknown operating point: a load or speed that was not learned, or a fault.'
  if (!now) return 'The current operating point is not determined.'
  return `Now running at ${pointName(now, count)}.`
}

/** Normal ways of running that were learned; nothing if there is only one. */
export function OperatingPoints({ machine }: { machine: MachineStatus }) {
  const points = machine.operating_points
  if (points.length < 2) return null
  return (
    <Panel title="Operating points" className="wide">
      <p className={machine.operating_point === 0 ? 'warned' : ''}>{sentence(machine)}</p>
      <table className="points">
        <thead>
          <tr>
            <th scope="col">Point</th>
            <th scope="col">Share of normal sound</th>
            <th scope="col" className="number">
              Level
            </th>
            <th scope="col" className="number">
              Usual score
            </th>
            <th scope="col">Now</th>
          </tr>
        </thead>
        <tbody>
          {points.map((point) => (
            <tr key={point.number} aria-current={point.number === machine.operating_point ? 'true' : undefined}>
              <td className="name">
                <PointName machine={machine} point={point} />
              </td>
              <td className="share">
                <span className="bar" aria-hidden="true">
                  <span className="fill" style={{ width: `${100 * point.share}%` }} />
                </span>
                {percent(point.share)}
              </td>
              <td className="number loudness">{levelText(point.level_dbfs, machine.sensor)}</td>
              <td className="number usual">{score(point.usual_score)}</td>
              <td className="now">{point.number === machine.operating_point && <span className="tag open">current</span>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  )
}
