import type { MachineStatus, Reading, Trend } from '../api/types'
import { duration } from './time'
import { score } from './numbers'

export type RecentScores = MachineStatus['recent_scores']

const RECENT_SECONDS = 600
const RECENT_STEP = 5

/** The scores of the last ten minutes with one more; points closer than the step cannot be seen. */
export function appended(scores: RecentScores, time: number, value: number | null): RecentScores {
  if (value === null) return scores
  const last = scores.at(-1)
  if (last && time - last[0] < RECENT_STEP) return scores
  return [...scores.filter(([at]) => at > time - RECENT_SECONDS), [time, value]]
}

/** A trend with newer readings at its end, and without points from before `begin`. */
export function withReadings(trend: Trend, readings: readonly Reading[], begin: number): Trend {
  const step = trend.seconds_per_point
  const first = trend.time.findIndex((time) => time + step > begin)
  const from = first < 0 ? trend.time.length : first
  const [time, low, mean, high, state] = [
    trend.time.slice(from),
    trend.low.slice(from),
    trend.mean.slice(from),
    trend.high.slice(from),
    trend.state.slice(from),
  ]
  for (const { time: at, smoothed, state: readingState } of readings) {
    const bucket = Math.floor(at / step) * step
    const last = time.length - 1
    if (bucket < (time[last] ?? -Infinity)) continue
    if (bucket !== time[last]) {
      time.push(bucket)
      ;[low, mean, high].forEach((series) => series.push(smoothed))
      state.push(readingState)
    } else if (smoothed !== null) {
      low[last] = Math.min(low[last] ?? Infinity, smoothed)
      high[last] = Math.max(high[last] ?? -Infinity, smoothed)
      // A reading per second: this is about the n-th of the point.
      const count = Math.max(2, at - bucket + 1)
      const before = mean[last] ?? smoothed
      mean[last] = before + (smoothed - before) / count
    }
  }
  return { seconds_per_point: step, time, low, mean, high, state }
}

type Series = (number | null)[]

/** Columns for a chart; where no sound arrived, a gap instead of a straight line. */
export function withGaps(trend: Trend): [number[], Series, Series, Series] {
  const columns: [number[], Series, Series, Series] = [[], [], [], []]
  trend.time.forEach((time, index) => {
    const before = trend.time[index - 1]
    if (before !== undefined && time - before > 2.5 * trend.seconds_per_point) {
      columns[0].push((time + before) / 2)
      columns.slice(1).forEach((series) => (series as Series).push(null))
    }
    columns[0].push(time)
    columns[1].push(trend.low[index] ?? null)
    columns[2].push(trend.mean[index] ?? null)
    columns[3].push(trend.high[index] ?? null)
  })
  return columns
}

export function hasScores(trend: Trend): boolean {
  return trend.mean.some((value) => value !== null)
}

/** What the chart shows, in a sentence for screen readers. */
export function summary(trend: Trend, alarm: number | null, alert: number | null): string {
  const highs = trend.high.filter((value) => value !== null)
  const means = trend.mean.filter((value) => value !== null)
  const first = trend.time[0]
  const last = trend.time.at(-1)
  if (!highs.length || !means.length || first === undefined || last === undefined)
    return 'No scores in this time range.'
  const mean = means.reduce((sum, value) => sum + value, 0) / means.length
  const seconds = trend.seconds_per_point
  const above = (threshold: number | null) =>
    threshold === null ? 0 : highs.filter((value) => value >= threshold).length * seconds
  const over =
    above(alarm) > 0
      ? `above the alarm threshold for about ${duration(above(alarm))}`
      : above(alert) > 0
        ? `above the alert threshold for about ${duration(above(alert))}`
        : 'never above a threshold'
  return `${duration(last - first + seconds)}: mean score ${score(mean)}, highest ${score(Math.max(...highs))}, ${over}.`
}
