import { useState } from 'react'
import type { Machine } from '../api/types'
import { post, remove, url } from '../api/client'
import { useMay, useNow, useReload, useZone } from '../api/useLive'
import { fromInput, moment, toInput } from '../lib/time'
import { useAction } from '../lib/useAction'
import { Needs } from './Needs'
import { Panel } from './Panel'
import { Problem } from './Problem'

/** Muted: judged and shown as ever, but no event begins. */
export function MutePanel({ machine }: { machine: Machine }) {
  const may = useMay('operator')
  const zone = useZone()
  const now = useNow(10)
  const reload = useReload()
  const { run, busy, error } = useAction()
  const [until, setUntil] = useState('')
  const address = url(`machines/${machine.id}/mute`)
  const mute = (minutes: number) => run(() => post(address, { minutes }).then(reload))
  const muteUntil = () => {
    const time = fromInput(until, zone)
    return time === null || time <= now
      ? run(() => Promise.reject(new Error('Give a time that is still to come.')))
      : mute((time - now) / 60)
  }
  return (
    <Panel title="Mute">
      <p className="plain">
        {machine.muted_until
          ? `Muted until ${moment(machine.muted_until, now, zone)}: it is judged and shown, but no event begins.`
          : 'While work is done at the machine: it is still judged and shown, but no event begins and nobody is called.'}
      </p>
      {may && (
        <div className="buttons">
          {machine.muted_until ? (
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
                  value={until}
                  min={toInput(now, zone)}
                  onChange={(event) => setUntil(event.target.value)}
                />
              </label>
              <button type="button" disabled={busy || !until} onClick={() => void muteUntil()}>
                Mute
              </button>
            </>
          )}
        </div>
      )}
      <Needs role="operator" to="mute" />
      <Problem words={error} />
    </Panel>
  )
}
