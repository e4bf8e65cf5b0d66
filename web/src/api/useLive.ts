import { createContext, useContext, useEffect, useState, useSyncExternalStore } from 'react'
import type { Role, You } from './types'
import { Live, type LiveState } from './live'

export const LiveContext = createContext(new Live())

export function useLive(): LiveState {
  const live = useContext(LiveContext)
  return useSyncExternalStore(live.subscribe, live.snapshot)
}

export function useReload(): () => Promise<void> {
  const live = useContext(LiveContext)
  return () => live.load()
}

/** The plant's time, anew every `seconds`. */
export function useNow(seconds = 1): number {
  const live = useContext(LiveContext)
  const { phase } = useLive()
  const [now, setNow] = useState(() => live.clock.now())
  useEffect(() => {
    const look = () => setNow(live.clock.now())
    look() // the clock is set when the plant is loaded
    const timer = window.setInterval(look, seconds * 1000)
    return () => window.clearInterval(timer)
  }, [live, seconds, phase])
  return now
}

export function useZone(): string {
  return useLive().plant?.zone ?? 'UTC'
}

/** How fast the plant's clock runs. */
export function useSpeed(): number {
  return useLive().plant?.speed || 1
}

const RANK: Record<Role, number> = { viewer: 0, operator: 1, admin: 2 }

/** Whether somebody's role allows what this one does. */
export function may(you: You | null, role: Role): boolean {
  return you !== null && RANK[you.role] >= RANK[role]
}

export function useMay(role: Role): boolean {
  return may(useLive().you, role)
}
