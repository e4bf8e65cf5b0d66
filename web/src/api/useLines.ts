import { useEffect } from 'react'
import type { DiagnosisLine, LineSet } from './types'
import { useFetched } from './useFetched'

const REFRESH_SECONDS = 5
const NONE: readonly DiagnosisLine[] = []

/** Diagnosis lines at an address. Those of a machine follow its speed: they are asked for again. */
export function useLines(address: string, isLive: boolean): readonly DiagnosisLine[] {
  const { content, refetch } = useFetched<LineSet>(address)
  const canMove = isLive && content?.speed_origin !== 'fixed'
  useEffect(() => {
    if (!canMove) return
    const timer = window.setInterval(() => {
      if (!document.hidden) refetch()
    }, REFRESH_SECONDS * 1000)
    return () => window.clearInterval(timer)
  }, [canMove, refetch])
  return content?.lines ?? NONE
}
