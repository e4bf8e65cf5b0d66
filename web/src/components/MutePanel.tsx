import { useState } from 'react'
import type { MachineStatus } from '../api/types'
import { post, remove, url } from '../api/client'
import { useHasRole, useNow, useReload, useTimezone } from '../api/useLive'
import { mutedUntil } from '../lib/states'
import { fromInput, moment, toInput } from '../lib/time'
import { useAction } from '../lib/useAction'
import { RequiresRole } from './RequiresRole'
import { Panel } from './Panel'
import { ErrorMessage } from './ErrorMessage'

/** While a machine is muted it is monitored and shown, but no event begins. */
export function MutePanel({ machine }: { machine: MachineStatus }) {
  const isOperator = useHasRole('operator')
  const zone = useTimezone()
  const now = useNow(10)
  const reload = useReload()
  const { run, busy, error } = useAction()
  const [chosen, setChosen] = useState('')
  const until = mutedUntil(machine, now)
  const address = url(`machines/${machine.id}/mute`)
  const mute = (minutes: number) => run(() => post(address, { minutes }).then(reload))
  const muteUntil = () => {
    const time = fromInput(chosen, zone)
    return time === null || time <= now
      ? run(() => Promise.reject(new Error('Choose a time in the future.')))
      : mute((time - now) / 60)
  }
  return (
    <Panel title="Mute">
      <p className="plain">
        {until !== null
          ? `Muted until ${moment(until, now, zone)}: the machine is still monitored and shown, but no event begins.`
          : 'For work at the machine: it is still monitored and shown, but no event begins and nobody is notified.'}
      </p>
      {isOperator && (
        <div className="buttons">
          {until !== null ? (
            <button type="button" disabled={busy} onClick={() => void run(() => remove(address).then(reload))}>
              Unmute
            </button>
          ) : (
            <>
              <button type="button" disabled={busy} onClick={() => void mute(60)}>
                For 1 h
              </button>
              <button type="button" disabled={busy} onClick={() => void mute(480)}>
                For 8 h
              </button>
              <label className="inline">
                Until{' '}
                <input
                  type="datetime-local"
                  value={chosen}
                  min={toInput(now, zone)}
                  onChange={(event) => setChosen(event.target.value)}
                />
              </label>
              <button type="button" disabled={busy || !chosen} onClick={() => void muteUntil()}>
                Mute
              </button>
            </>
          )}
        </div>
      )}
      <RequiresRole role="operator" to="mute" />
      <ErrorMessage message={error} />
    </Panel>
  )
}
