import { useEffect, useRef, useState, type KeyboardEvent } from 'react'
import type { Machine, OperatingPoint } from '../api/types'
import { put, url } from '../api/client'
import { useMay, useReload } from '../api/useLive'
import { decibel, percent, score } from '../lib/numbers'
import { currentPoint, pointName } from '../lib/points'
import { useAction } from '../lib/useAction'
import { Panel } from './Panel'
import { Problem } from './Problem'

const LONGEST_NAME = 40

/** A name that is written where it stands: Enter keeps it, Escape leaves it as it was. */
function PointName({ machine, point }: { machine: Machine; point: OperatingPoint }) {
  const may = useMay('admin')
  const reload = useReload()
  const { run, busy, error } = useAction()
  const [written, setWritten] = useState<string | null>(null)
  const rename = useRef<HTMLButtonElement>(null)
  const wasWriting = useRef(false)
  useEffect(() => {
    if (wasWriting.current && written === null) rename.current?.focus()
    wasWriting.current = written !== null
  }, [written])
  const shown = point.name || `Point ${point.number}`
  const keep = () =>
    run(() => put(url(`machines/${machine.id}/operating-points/${point.number}`), { name: written?.trim() }).then(reload)).then(
      (done) => {
        if (done) setWritten(null)
      },
    )
  const leave = (event: KeyboardEvent) => {
    if (event.key === 'Escape') setWritten(null)
  }
  if (written === null)
    return (
      <span className="buttons">
        <strong>{shown}</strong>
        {may && (
          <button ref={rename} type="button" className="small" aria-label={point.name ? `Rename ${shown}` : `Name it: ${shown}`} onClick={() => setWritten(point.name)}>
            {point.name ? 'Rename' : 'Name it'}
          </button>
        )}
      </span>
    )
  return (
    <form
      className="row"
      onSubmit={(event) => {
        event.preventDefault()
        void keep()
      }}
    >
      <input
        autoFocus
        value={written}
        maxLength={LONGEST_NAME}
        placeholder="half load"
        aria-label={`Name of ${shown}`}
        onKeyDown={leave}
        onChange={(event) => setWritten(event.target.value)}
      />
      <button type="submit" disabled={busy}>
        Keep
      </button>
      <button type="button" onClick={() => setWritten(null)}>
        Cancel
      </button>
      <Problem words={error} />
    </form>
  )
}

function sentence(machine: Machine): string {
  const now = currentPoint(machine)
  const count = machine.operating_points.length
  if (machine.operating_point === 0)
    return 'Now it runs like none of these: at a load or speed that was not heard while learning, or with a fault.'
  if (!now) return 'At which of these it runs is not known just now.'
  return `Now it runs at ${pointName(now, count)}.`
}

/** The usual ways of running that were told apart while learning; nothing where there is one only. */
export function OperatingPoints({ machine }: { machine: Machine }) {
  const points = machine.operating_points
  if (points.length < 2) return null
  return (
    <Panel title="Operating points" className="wide">
      <p className={machine.operating_point === 0 ? 'warned' : ''}>{sentence(machine)}</p>
      <table className="points">
        <thead>
          <tr>
            <th scope="col">Point</th>
            <th scope="col">Share of normal time</th>
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
              <td className="number loudness">{decibel(point.level_dbfs)}</td>
              <td className="number usual">{score(point.usual)}</td>
              <td className="now">{point.number === machine.operating_point && <span className="tag open">runs now</span>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  )
}
