import { useState } from 'react'
import type { Machine } from '../api/types'
import { post, url } from '../api/client'
import { useMay, useReload, useZone } from '../api/useLive'
import { day } from '../lib/time'
import { useAction } from '../lib/useAction'
import { Panel } from './Panel'
import { Problem } from './Problem'
import { Progress } from './Progress'

/** What counts as normal: learnt anew, or moved along with a slow change that is harmless. */
export function BaselinePanel({ machine }: { machine: Machine }) {
  const may = useMay('admin')
  const zone = useZone()
  const reload = useReload()
  const { run, busy, error } = useAction()
  const [minutes, setMinutes] = useState(15)
  const [isAsking, setAsking] = useState(false)
  const learn = () =>
    run(() => post(url(`machines/${machine.id}/learn`), { minutes }).then(reload)).then(() => setAsking(false))
  return (
    <Panel title="Baseline">
      {machine.drift && (
        <div className="offer">
          <p>
            {machine.drift.words} Since {day(machine.drift.since, zone)}.
          </p>
          <button
            type="button"
            disabled={!may || busy}
            onClick={() => void run(() => post(url(`machines/${machine.id}/rebaseline`)).then(reload))}
          >
            Harmless: take it as the new normal
          </button>
        </div>
      )}
      {machine.learning ? (
        <Progress done={machine.learning.seconds} wanted={machine.learning.wanted} />
      ) : (
        <>
          <p className="plain">
            After a repair or a change of use the normal sound is another one. While it is learnt, nothing is judged.
          </p>
          <div className="buttons">
            <label className="inline">
              Minutes{' '}
              <input
                type="number"
                min={1}
                max={1440}
                value={minutes}
                disabled={!may}
                onChange={(event) => setMinutes(Number(event.target.value))}
              />
            </label>
            {isAsking ? (
              <>
                <button type="button" className="main" disabled={busy} onClick={() => void learn()}>
                  The machine runs normally: learn now
                </button>
                <button type="button" onClick={() => setAsking(false)}>
                  Cancel
                </button>
              </>
            ) : (
              <button type="button" disabled={!may || busy || !(minutes >= 1)} onClick={() => setAsking(true)}>
                Learn a new baseline
              </button>
            )}
          </div>
        </>
      )}
      {!may && <p className="plain">Needs the role admin.</p>}
      <Problem words={error} />
    </Panel>
  )
}
