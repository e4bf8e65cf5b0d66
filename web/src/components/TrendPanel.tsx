import { useContext, useEffect, useState } from 'react'
import type { Machine, MachineEvent, Trend } from '../api/types'
import { url } from '../api/client'
import { useFetched } from '../api/useFetched'
import { LiveContext, useZone } from '../api/useLive'
import { plural } from '../lib/numbers'
import { duration } from '../lib/time'
import { hasScores } from '../lib/trend'
import { Empty } from './Empty'
import { Panel } from './Panel'
import { Problem } from './Problem'
import { TrendChart } from './TrendChart'

const SPANS: readonly [string, number][] = [
  ['10 min', 600],
  ['1 h', 3600],
  ['1 d', 86_400],
  ['1 w', 7 * 86_400],
  ['1 mo', 30 * 86_400],
  ['1 y', 365 * 86_400],
]
const SHORTEST = 60
const LONGEST = 10 * 365 * 86_400

/** Scores from a minute to a year; follows the present until someone zooms or moves away from it. */
export function TrendPanel({ machine, events }: { machine: Machine; events: MachineEvent[] }) {
  const zone = useZone()
  const { clock } = useContext(LiveContext)
  const [span, setSpan] = useState(600)
  const [chosen, setChosen] = useState(600)
  const [end, setEnd] = useState(() => clock.now())
  const [isFollowing, setFollowing] = useState(true)
  // As often as a new point appears: a year needs no look every second.
  const pace = Math.min(60, Math.max(2, span / 600))
  useEffect(() => {
    if (!isFollowing) return
    const timer = window.setInterval(() => setEnd(clock.now()), pace * 1000)
    return () => window.clearInterval(timer)
  }, [isFollowing, pace, clock])

  const begin = end - span
  const trend = useFetched<Trend>(url(`machines/${machine.id}/scores`, { begin, end, points: 600 }))
  const show = (from: number, to: number, follow: boolean) => {
    setSpan(Math.min(LONGEST, Math.max(SHORTEST, to - from)))
    setEnd(Math.min(to, clock.now()))
    setFollowing(follow)
  }
  const choose = (seconds: number) => {
    setChosen(seconds)
    show(clock.now() - seconds, clock.now(), true)
  }
  const middle = end - span / 2
  const inside = events.filter((event) => event.began < end && (event.ended ?? end) > begin)
  return (
    <Panel
      title="Trend"
      className="wide"
      aside={
        <div className="buttons">
          {SPANS.map(([name, seconds]) => (
            <button
              key={name}
              type="button"
              aria-pressed={Math.abs(span - seconds) < 1}
              onClick={() => choose(seconds)}
            >
              {name}
            </button>
          ))}
          <span className="group">
            <button type="button" aria-label="Earlier" onClick={() => show(begin - span / 2, end - span / 2, false)}>
              ‹
            </button>
            <button type="button" aria-label="Zoom in" onClick={() => show(middle - span / 4, middle + span / 4, false)}>
              +
            </button>
            <button type="button" aria-label="Zoom out" onClick={() => show(middle - span, middle + span, false)}>
              −
            </button>
            <button type="button" aria-label="Later" onClick={() => show(begin + span / 2, end + span / 2, false)}>
              ›
            </button>
          </span>
          <button type="button" aria-pressed={isFollowing} onClick={() => show(clock.now() - span, clock.now(), true)}>
            Follow live
          </button>
        </div>
      }
    >
      <Problem words={trend.error} />
      {/* Without limits an empty axis means nothing; with them it can be moved to where there are scores. */}
      {trend.content && !hasScores(trend.content) && !machine.thresholds ? (
        <Empty title="No scores in this time.">
          {inside.length > 0 && <p>{plural(inside.length, 'event')} in this time: see below.</p>}
          <p>Scores begin when the normal sound has been learnt.</p>
        </Empty>
      ) : trend.content ? (
        <TrendChart
          trend={trend.content}
          range={[begin, end]}
          limits={machine.thresholds}
          events={inside}
          zone={zone}
          onZoom={(from, to) => show(from, to, false)}
          onBack={() => choose(chosen)}
        />
      ) : (
        <p className="plain">Loading {duration(span)}…</p>
      )}
    </Panel>
  )
}
