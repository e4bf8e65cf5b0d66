import type { MachineStatus } from '../api/types'
import { useDataAge, useIsStale } from '../api/useFreshness'
import { t } from '../i18n'
import { STATE_NAMES } from '../lib/states'
import { duration } from '../lib/time'
import { StateBadge } from './StateBadge'

/** "Last data 12 s ago" */
export function LastData({ machine }: { machine: MachineStatus }) {
  const age = useDataAge(machine.id)
  return <span className="last-data">{age === null ? t('listen.noDataYet') : t('listen.lastData', { age: duration(age) })}</span>
}

/** The state, or that nothing current is known of it. */
export function CurrentState({ machine, large = false }: { machine: MachineStatus; large?: boolean }) {
  if (!useIsStale(machine)) return <StateBadge state={machine.state} large={large} />
  return (
    <span className={`badge stale${large ? ' large' : ''}`} title={t('listen.lastKnown', { state: STATE_NAMES[machine.state] })}>
      {t('listen.noCurrentData')}
    </span>
  )
}
