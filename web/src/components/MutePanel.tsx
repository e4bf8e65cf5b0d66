import { useState } from 'react'
import type { MachineStatus } from '../api/types'
import { post, remove, url } from '../api/client'
import { useHasRole, useNow, useReload, useTimezone } from '../api/useLive'
import { t } from '../i18n'
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
      ? run(() => Promise.reject(new Error(t('machine.mute.future'))))
      : mute((time - now) / 60)
  }
  return (
    <Panel title={t('machine.mute.title')}>
      <p className="plain">
        {until !== null
          ? t('machine.mute.muted', { time: moment(until, now, zone) })
          : t('machine.mute.explanation')}
      </p>
      {isOperator && (
        <div className="buttons">
          {until !== null ? (
            <button type="button" disabled={busy} onClick={() => void run(() => remove(address).then(reload))}>
              {t('machine.mute.unmute')}
            </button>
          ) : (
            <>
              <button type="button" disabled={busy} onClick={() => void mute(60)}>
                {t('machine.mute.forHour')}
              </button>
              <button type="button" disabled={busy} onClick={() => void mute(480)}>
                {t('machine.mute.forShift')}
              </button>
              <label className="inline">
                {t('machine.mute.until')}{' '}
                <input
                  type="datetime-local"
                  value={chosen}
                  min={toInput(now, zone)}
                  onChange={(event) => setChosen(event.target.value)}
                />
              </label>
              <button type="button" disabled={busy || !chosen} onClick={() => void muteUntil()}>
                {t('machine.mute.mute')}
              </button>
            </>
          )}
        </div>
      )}
      <RequiresRole role="operator" sentence="machine.mute.needsRole" />
      <ErrorMessage message={error} />
    </Panel>
  )
}
