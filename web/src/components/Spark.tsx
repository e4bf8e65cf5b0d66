import { memo } from 'react'
import type { MachineThresholds } from '../api/types'
import type { Spark as Points } from '../lib/trend'

const WIDTH = 300
const HEIGHT = 60

interface Props {
  spark: Points
  limits: MachineThresholds | null
}

/** The last ten minutes against the limits; the numbers beside it say the same in words. */
export const Spark = memo(function Spark({ spark: given, limits }: Props) {
  const spark = given.filter(([, value]) => Number.isFinite(value))
  const last = spark.at(-1)
  if (!last || spark.length < 2) return <div className="spark empty-spark" aria-hidden="true" />
  const scores = spark.map(([, value]) => value)
  const top = Math.max(...scores, limits ? limits.alarm * 1.08 : 0)
  const bottom = Math.min(...scores, 0)
  const x = (time: number) => WIDTH * (1 - (last[0] - time) / 600)
  const y = (value: number) => HEIGHT - 2 - ((value - bottom) / (top - bottom || 1)) * (HEIGHT - 4)
  const path = spark.map(([time, value], index) => `${index ? 'L' : 'M'}${x(time).toFixed(1)} ${y(value).toFixed(1)}`)
  return (
    <svg className="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      {limits && <line className="limit alarm" x1="0" x2={WIDTH} y1={y(limits.alarm)} y2={y(limits.alarm)} />}
      {limits && <line className="limit alert" x1="0" x2={WIDTH} y1={y(limits.alert)} y2={y(limits.alert)} />}
      <path d={path.join('')} />
    </svg>
  )
})
