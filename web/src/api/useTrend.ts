import { useContext, useEffect, useState } from 'react'
import { withReadings } from '../lib/trend'
import { url } from './client'
import type { Reading, Trend } from './types'
import { useFetched } from './useFetched'
import { LiveContext } from './useLive'

const POINTS = 600

interface ShownTrend {
  trend: Trend | null
  /** Of the range to show; moves with the clock while it follows the present. */
  end: number
  error: string
}

/** Scores of a time range. While it follows the present, readings of the live stream are appended. */
export function useTrend(machine: string, begin: number, end: number, isFollowing: boolean): ShownTrend {
  const live = useContext(LiveContext)
  const span = end - begin
  const { content, error } = useFetched<Trend>(url(`machines/${machine}/trend`, { begin, end, points: POINTS }))
  const [trend, setTrend] = useState<Trend | null>(null)
  const [now, setNow] = useState(end)
  useEffect(() => {
    // Readings that arrived since the service answered, or that it had not stored yet.
    setTrend(content && isFollowing ? withReadings(content, live.recentReadings(machine), begin) : content)
  }, [content])
  useEffect(() => {
    setNow(end)
    if (!isFollowing) return
    const arrived: Reading[] = []
    const unsubscribe = live.onReading(machine, (reading) => arrived.push(reading))
    // As often as a new point appears: a year needs no update every second.
    const seconds = Math.min(60, Math.max(1, span / POINTS))
    const timer = window.setInterval(() => {
      const time = live.clock.now()
      const readings = arrived.splice(0)
      setNow(time)
      setTrend((before) => before && withReadings(before, readings, time - span))
    }, seconds * 1000)
    return () => {
      unsubscribe()
      window.clearInterval(timer)
    }
  }, [machine, begin, end, isFollowing, live])
  return { trend, end: isFollowing ? Math.max(now, end) : end, error }
}
