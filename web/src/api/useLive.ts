import { createContext, useContext, useEffect, useState, useSyncExternalStore } from 'react'
import type { Role, UserInfo } from './types'
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

/** The time of the service, updated every `seconds`. */
export function useNow(seconds = 1): number {
  const live = useContext(LiveContext)
  const { phase } = useLive()
  const [now, setNow] = useState(() => live.clock.now())
  useEffect(() => {
    const update = () => setNow(live.clock.now())
    update() // the clock is set when the state has been loaded
    const timer = window.setInterval(update, seconds * 1000)
    return () => window.clearInterval(timer)
  }, [live, seconds, phase])
  return now
}

export function useTimezone(): string {
  return useLive().service?.timezone ?? 'UTC'
}

/** How fast the clock of the service runs. */
export function useSpeed(): number {
  return useLive().service?.speed || 1
}

const RANK: Record<Role, number> = { viewer: 0, operator: 1, admin: 2 }

/** Whether a user has at least this role. */
export function hasRole(user: UserInfo | null, role: Role): boolean {
  return user !== null && RANK[user.role] >= RANK[role]
}

export function useHasRole(role: Role): boolean {
  return hasRole(useLive().user, role)
}
