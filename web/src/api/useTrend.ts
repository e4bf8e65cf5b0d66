import { useContext, useEffect, useRef, useState } from 'react'
import { bandsWithReadings } from '../lib/bandTrend'
import { withReadings } from '../lib/trend'
import { url } from './client'
import type { BandTrend, Reading, Trend } from './types'
import { useFetched } from './useFetched'
import { LiveContext } from './useLive'

const POINTS = 600

interface Followed<T> {
  trend: T | null
  /** Of the range to show; moves with the clock while it follows the present. */
  end: number
  error: string
}

/** The trend with newer readings; `areStored`: the service may have counted them already. */
type Append<T> = (trend: T, readings: readonly Reading[], begin: number, areStored: boolean) => T

/** A trend of a time range. While it follows the present, readings of the live stream are appended. */
function useFollowed<T>(what: string, append: Append<T>, machine: string, begin: number, end: number, isFollowing: boolean): Followed<T> {
  const live = useContext(LiveContext)
  const span = end - begin
  const { content, error } = useFetched<T>(url(`machines/${machine}/${what}`, { begin, end, points: POINTS }))
  const [trend, setTrend] = useState<T | null>(null)
  const [now, setNow] = useState(end)
  const arrived = useRef<Reading[]>([])
  useEffect(() => {
    // Readings that arrived since the service answered, or that it had not stored yet.
    arrived.current = []
    setTrend(content && isFollowing ? append(content, live.recentReadings(machine), begin, true) : content)
  }, [content])
  useEffect(() => {
    setNow(end)
    if (!isFollowing) return
    const unsubscribe = live.onReading(machine, (reading) => arrived.current.push(reading))
    // As often as a new point appears: a year needs no update every second.
    const seconds = Math.min(60, Math.max(1, span / POINTS))
    const timer = window.setInterval(() => {
      const time = live.clock.now()
      const readings = arrived.current.splice(0)
      setNow(time)
      setTrend((before) => before && append(before, readings, time - span, false))
    }, seconds * 1000)
    return () => {
      unsubscribe()
      window.clearInterval(timer)
    }
  }, [machine, begin, end, isFollowing, live])
  return { trend, end: isFollowing ? Math.max(now, end) : end, error }
}

/** Scores of a time range. */
export function useTrend(machine: string, begin: number, end: number, isFollowing: boolean): Followed<Trend> {
  return useFollowed('trend', withReadings, machine, begin, end, isFollowing)
}

/** Levels of the bands of a time range. */
export function useBandTrend(machine: string, begin: number, end: number, isFollowing: boolean): Followed<BandTrend> {
  return useFollowed('bands', bandsWithReadings, machine, begin, end, isFollowing)
}
