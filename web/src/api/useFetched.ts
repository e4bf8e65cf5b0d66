import { useCallback, useContext, useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { errorMessage, get } from './client'
import { LiveContext } from './useLive'

export interface Fetched<T> {
  content: T | null
  error: string
  refetch: () => void
}

/** The JSON at an address; fetched again after the connection was lost. Null address: nothing. */
export function useFetched<T>(address: string | null): Fetched<T> {
  const [content, setContent] = useState<T | null>(null)
  const [error, setError] = useState('')
  const [fetches, setFetches] = useState(0)
  const live = useContext(LiveContext)
  const reconnects = useSyncExternalStore(live.subscribe, () => live.snapshot().reconnects)
  const previous = useRef<string | null>(null)
  useEffect(() => {
    if (address === null) return
    const controller = new AbortController()
    if (previous.current !== null && previous.current !== address) setError('')
    previous.current = address
    get<T>(address, controller.signal).then(
      (answer) => {
        if (controller.signal.aborted) return
        setContent(answer)
        setError('')
      },
      (problem: unknown) => {
        if (!controller.signal.aborted) setError(errorMessage(problem))
      },
    )
    return () => controller.abort()
  }, [address, fetches, reconnects])
  const refetch = useCallback(() => setFetches((count) => count + 1), [])
  return { content, error, refetch }
}
