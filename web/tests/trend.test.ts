import { expect, test } from 'vitest'
import type { Reading, Trend } from '../src/api/types'
import { appended, hasScores, summary, withGaps, withReadings, type RecentScores } from '../src/lib/trend'

function trend(time: number[], high: (number | null)[]): Trend {
  const none = time.map(() => 0)
  return { seconds_per_point: 60, time, low: high, mean: high, high, state: time.map(() => 'normal'), alert_seconds: none, alarm_seconds: none }
}

test('recent scores keep ten minutes at a readable density', () => {
  let scores: RecentScores = []
  for (let time = 0; time <= 2000; time++) scores = appended(scores, time, time)
  expect(scores.at(-1)).toEqual([2000, 2000])
  expect(scores[0]?.[0]).toBe(1405)
  expect(scores).toHaveLength(120)
})

test('while nothing is scored, recent scores stay as they are', () => {
  const scores: RecentScores = [[1, 1]]
  expect(appended(scores, 100, null)).toBe(scores)
})

const reading = (time: number, smoothed: number | null) => ({ time, smoothed, state: 'normal' }) as Reading

test('readings become points of the trend, or part of its last one', () => {
  const longer = withReadings(trend([0, 60], [1, 2]), [reading(61, 4), reading(130, 5), reading(140, null)], 0)
  expect(longer.time).toEqual([0, 60, 120])
  expect(longer.low).toEqual([1, 2, 5])
  expect(longer.high).toEqual([1, 4, 5])
  expect(longer.mean).toEqual([1, 3, 5])
  expect(longer.state).toHaveLength(3)
})

test('readings that the trend has already do not change it', () => {
  const before = trend([0, 60, 120], [1, 2, 3])
  expect(withReadings(before, [reading(30, 9), reading(100, 9)], 0)).toEqual(before)
})

test('points from before the range are dropped', () => {
  expect(withReadings(trend([0, 60, 120], [1, 2, 3]), [], 70).time).toEqual([60, 120])
})

test('where no sound arrived, the line has a gap', () => {
  expect(withGaps([0, 60, 600, 660], 60, [[1, 2, 3, 4]])).toEqual([
    [0, 60, 330, 600, 660],
    [1, 2, null, 3, 4],
  ])
})

test('neighbouring points are joined', () => {
  expect(withGaps([0, 60, 120], 60, [])[0]).toEqual([0, 60, 120])
})

test('the summary has mean, peak and the time in alarm and alert', () => {
  const shown = trend([0, 60, 120, 180], [1, 3, 6, null])
  expect(summary(shown)).toBe('4 min: mean score 3.33, highest 6.00, never in alert or alarm.')
  expect(summary({ ...shown, alarm_seconds: [0, 0, 13, 0] })).toContain('6.00, in alarm for 13 s.')
  expect(summary({ ...shown, alarm_seconds: [0, 0, 13, 0], alert_seconds: [0, 60, 10, 0] })).toContain('in alarm for 13 s, in alert for 1 min 10 s.')
  expect(summary(trend([], []))).toBe('No scores in this time range.')
})

test('13 s in alarm are 13 s on the year too, while readings go on arriving', () => {
  const year = { ...trend([0, 43_200], [1, 6]), seconds_per_point: 43_200, alarm_seconds: [0, 13] }
  const before = Array.from({ length: 13 }, (_, index) => ({ time: 43_300 + index, smoothed: 6, state: 'alarm' }) as Reading)
  // What the service has counted already is not counted twice, what is new is.
  const loaded = withReadings(year, before, 0, true)
  expect(loaded.alarm_seconds).toEqual([0, 13])
  const later = withReadings(loaded, [{ time: 43_400, smoothed: 6, state: 'alarm' } as Reading, reading(43_401, 1)], 0)
  expect(later.alarm_seconds).toEqual([0, 14])
  const next = withReadings(later, [{ time: 86_400, smoothed: 3, state: 'alert' } as Reading], 0)
  expect([next.alert_seconds, next.alarm_seconds]).toEqual([[0, 0, 1], [0, 14, 0]])
})

test('a time range in which nothing was scored has no scores', () => {
  expect(hasScores(trend([], []))).toBe(false)
  expect(hasScores(trend([0, 60], [null, null]))).toBe(false)
  expect(hasScores(trend([0, 60], [null, 1]))).toBe(true)
})
