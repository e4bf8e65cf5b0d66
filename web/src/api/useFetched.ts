import { useCallback, useContext, useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { get, words } from './client'
import { LiveContext } from './useLive'

export interface Fetched<T> {
  content: T | null
  error: string
  again: () => void
}

/**
 * The JSON at an address, asked again every `seconds` (0: only once). While the page is not seen it
 * is not asked; when a lost connection is back, it is asked once more. Null address: nothing.
 */
export function useFetched<T>(address: string | null, seconds = 0): Fetched<T> {
  const [content, setContent] = useState<T | null>(null)
  const [error, setError] = useState('')
  const [turn, setTurn] = useState(0)
  const live = useContext(LiveContext)
  const returns = useSyncExternalStore(live.subscribe, () => live.snapshot().returns)
  const shown = useRef<string | null>(null)
  useEffect(() => {
    if (address === null) return
    const controller = new AbortController()
    let timer = 0
    if (shown.current !== null && shown.current !== address) setError('')
    shown.current = address
    const ask = async (): Promise<void> => {
      try {
        if (!document.hidden || timer === 0) {
          setContent(await get<T>(address, controller.signal))
          setError('')
        }
      } catch (problem) {
        if (controller.signal.aborted) return
        setError(words(problem))
      }
      if (seconds > 0 && !controller.signal.aborted) timer = window.setTimeout(() => void ask(), seconds * 1000)
    }
    void ask()
    return () => {
      controller.abort()
      window.clearTimeout(timer)
    }
  }, [address, seconds, turn, returns])
  const again = useCallback(() => setTurn((before) => before + 1), [])
  return { content, error, again }
}
