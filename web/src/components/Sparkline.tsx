import { memo } from 'react'
import type { Thresholds } from '../api/types'
import type { RecentScores } from '../lib/trend'

const WIDTH = 300
const HEIGHT = 60

interface Props {
  scores: RecentScores
  thresholds: Thresholds | null
  /** Measurements taken now and then are points, not a line. */
  atIntervals: boolean
}

/** Scores of the last ten minutes against the thresholds; the numbers beside it say the same. */
export const Sparkline = memo(function Sparkline({ scores, thresholds, atIntervals }: Props) {
  const points = scores.filter(([, value]) => Number.isFinite(value))
  const last = points.at(-1)
  if (!last || points.length < 2) return <div className="sparkline empty-sparkline" aria-hidden="true" />
  const values = points.map(([, value]) => value)
  const top = Math.max(...values, thresholds ? thresholds.alarm + 0.08 * Math.abs(thresholds.alarm) : 0)
  const bottom = Math.min(...values, 0)
  const x = (time: number) => WIDTH * (1 - (last[0] - time) / 600)
  const y = (value: number) => HEIGHT - 2 - ((value - bottom) / (top - bottom || 1)) * (HEIGHT - 4)
  const path = points.map(([time, value], index) => {
    const place = `${x(time).toFixed(1)} ${y(value).toFixed(1)}`
    return atIntervals ? `M${place}h0` : `${index ? 'L' : 'M'}${place}`
  })
  return (
    <svg className="sparkline" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      {thresholds && <line className="threshold-line alarm" x1="0" x2={WIDTH} y1={y(thresholds.alarm)} y2={y(thresholds.alarm)} />}
      {thresholds && <line className="threshold-line alert" x1="0" x2={WIDTH} y1={y(thresholds.alert)} y2={y(thresholds.alert)} />}
      <path className={atIntervals ? 'dots' : ''} d={path.join('')} />
    </svg>
  )
})
