import type { MachineStatus, Reading, Trend } from '../api/types'
import { listed, t } from '../i18n'
import { duration, exactDuration } from './time'
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

/**
 * A trend with newer readings at its end, and without points from before `begin`. `areCounted`: the time
 * in alert and alarm of those in its last point is in the trend already.
 */
export function withReadings(trend: Trend, readings: readonly Reading[], begin: number, areCounted = false): Trend {
  const step = trend.seconds_per_point
  const first = trend.time.findIndex((time) => time + step > begin)
  const from = first < 0 ? trend.time.length : first
  const counted = areCounted ? (trend.time.at(-1) ?? -Infinity) : -Infinity
  const [time, low, mean, high, state, alert_seconds, alarm_seconds] = [
    trend.time.slice(from),
    trend.low.slice(from),
    trend.mean.slice(from),
    trend.high.slice(from),
    trend.state.slice(from),
    trend.alert_seconds.slice(from),
    trend.alarm_seconds.slice(from),
  ]
  for (const { time: at, smoothed, state: readingState } of readings) {
    const bucket = Math.floor(at / step) * step
    const last = time.length - 1
    if (bucket < (time[last] ?? -Infinity)) continue
    if (bucket !== time[last]) {
      time.push(bucket)
      ;[low, mean, high].forEach((series) => series.push(smoothed))
      state.push(readingState)
      alert_seconds.push(0)
      alarm_seconds.push(0)
    } else if (smoothed !== null) {
      low[last] = Math.min(low[last] ?? Infinity, smoothed)
      high[last] = Math.max(high[last] ?? -Infinity, smoothed)
      // A reading per second: this is about the n-th of the point.
      const count = Math.max(2, at - bucket + 1)
      const before = mean[last] ?? smoothed
      mean[last] = before + (smoothed - before) / count
    }
    if (bucket > counted) {
      const point = time.length - 1
      if (readingState === 'alert') alert_seconds[point] = (alert_seconds[point] ?? 0) + 1
      if (readingState === 'alarm') alarm_seconds[point] = (alarm_seconds[point] ?? 0) + 1
    }
  }
  return { seconds_per_point: step, time, low, mean, high, state, alert_seconds, alarm_seconds }
}

type Series = (number | null)[]

/** Columns for a chart: times and series; where no sound arrived, a gap instead of a straight line. */
export function withGaps(times: readonly number[], step: number, series: readonly Series[]): [number[], ...Series[]] {
  const gappedTimes: number[] = []
  const gapped = series.map((): Series => [])
  const push = (time: number, value: (each: Series) => number | null) => {
    gappedTimes.push(time)
    series.forEach((each, index) => gapped[index]?.push(value(each)))
  }
  times.forEach((time, index) => {
    const before = times[index - 1]
    if (before !== undefined && time - before > 2.5 * step) push((time + before) / 2, () => null)
    push(time, (each) => each[index] ?? null)
  })
  return [gappedTimes, ...gapped]
}

export function hasScores(trend: Trend): boolean {
  return trend.mean.some((value) => value !== null)
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

/** "in alarm for 13 s, in alert for 2 min": how long it was, whatever the length of a point. */
function timeInStates(trend: Trend): string {
  const [alarm, alert] = [sum(trend.alarm_seconds), sum(trend.alert_seconds)]
  const inAlarm = alarm ? t('trend.inAlarm', { duration: exactDuration(alarm) }) : ''
  const inAlert = alert ? t('trend.inAlert', { duration: exactDuration(alert) }) : ''
  return listed([inAlarm, inAlert]) || t('trend.neverUnusual')
}

/** What the chart shows, in a sentence for screen readers. */
export function summary(trend: Trend): string {
  const highs = trend.high.filter((value) => value !== null)
  const means = trend.mean.filter((value) => value !== null)
  const first = trend.time[0]
  const last = trend.time.at(-1)
  if (!highs.length || !means.length || first === undefined || last === undefined)
    return t('trend.noScores')
  const length = duration(last - first + trend.seconds_per_point)
  return t('trend.summary', {
    length,
    mean: score(sum(means) / means.length),
    highest: score(Math.max(...highs)),
    states: timeInStates(trend),
  })
}
