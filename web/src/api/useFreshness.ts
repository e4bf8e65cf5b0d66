import { useContext, useSyncExternalStore } from 'react'
import type { MachineStatus } from './types'
import { LiveContext, useLive } from './useLive'

/** Seconds since something last arrived of a machine, counted up; null where nothing has. */
export function useDataAge(id: string): number | null {
  const { freshness } = useContext(LiveContext)
  return useSyncExternalStore(freshness.subscribe, () => freshness.age(id))
}

/** Whether what is known of a machine is too old to be shown as current. A lost source is known to be lost. */
export function useIsStale(machine: Pick<MachineStatus, 'id' | 'state' | 'stale_after'> | undefined): boolean {
  const { freshness } = useContext(LiveContext)
  const { connected } = useLive()
  const isLate = useSyncExternalStore(freshness.subscribe, () => {
    if (!machine || machine.stale_after === null) return false
    return (freshness.age(machine.id) ?? 0) > machine.stale_after
  })
  return !connected || (isLate && machine?.state !== 'lost')
}
