import type { Trend } from '../api/types'
import { duration } from './time'
import { score } from './numbers'

export type Spark = [number, number][]

const SPARK_SECONDS = 600
const SPARK_STEP = 5

/** The last ten minutes with one more score; closer together than the step nobody could see them. */
export function appended(spark: Spark, time: number, value: number | null): Spark {
  if (value === null) return spark
  const last = spark.at(-1)
  if (last && time - last[0] < SPARK_STEP) return spark
  return [...spark.filter(([at]) => at > time - SPARK_SECONDS), [time, value]]
}

type Series = (number | null)[]

/** Columns for a chart; where nothing was heard, a hole instead of a straight line across it. */
export function withHoles(trend: Trend): [number[], Series, Series, Series] {
  const made: [number[], Series, Series, Series] = [[], [], [], []]
  trend.time.forEach((time, index) => {
    const before = trend.time[index - 1]
    if (before !== undefined && time - before > 2.5 * trend.seconds_per_point) {
      made[0].push((time + before) / 2)
      made.slice(1).forEach((series) => (series as Series).push(null))
    }
    made[0].push(time)
    made[1].push(trend.low[index] ?? null)
    made[2].push(trend.mean[index] ?? null)
    made[3].push(trend.high[index] ?? null)
  })
  return made
}

export function hasScores(trend: Trend): boolean {
  return trend.mean.some((value) => value !== null)
}

/** What the chart shows, in a sentence for those who do not see it. */
export function summary(trend: Trend, alarm: number | null, alert: number | null): string {
  const heard = trend.high.filter((value) => value !== null)
  const means = trend.mean.filter((value) => value !== null)
  const first = trend.time[0]
  const last = trend.time.at(-1)
  if (!heard.length || !means.length || first === undefined || last === undefined)
    return 'No scores in this time.'
  const mean = means.reduce((sum, value) => sum + value, 0) / means.length
  const seconds = trend.seconds_per_point
  const above = (limit: number | null) =>
    limit === null ? 0 : heard.filter((value) => value >= limit).length * seconds
  const over =
    above(alarm) > 0
      ? `above the alarm limit for about ${duration(above(alarm))}`
      : above(alert) > 0
        ? `above the alert limit for about ${duration(above(alert))}`
        : 'never above a limit'
  return `${duration(last - first + seconds)}: score ${score(mean)} on average, ${score(Math.max(...heard))} at most, ${over}.`
}
