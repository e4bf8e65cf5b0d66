import { expect, test } from 'vitest'
import type { Reading, Trend } from '../src/api/types'
import { appended, hasScores, summary, withGaps, withReadings, type RecentScores } from '../src/lib/trend'

function trend(time: number[], high: (number | null)[]): Trend {
  return { seconds_per_point: 60, time, low: high, mean: high, high, state: time.map(() => 'normal') }
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
  const [time, , mean] = withGaps(trend([0, 60, 600, 660], [1, 2, 3, 4]))
  expect(time).toEqual([0, 60, 330, 600, 660])
  expect(mean).toEqual([1, 2, null, 3, 4])
})

test('neighbouring points are joined', () => {
  expect(withGaps(trend([0, 60, 120], [1, 2, 3]))[0]).toEqual([0, 60, 120])
})

test('the summary has mean, peak and time above the highest threshold passed', () => {
  const shown = trend([0, 60, 120, 180], [1, 3, 6, null])
  expect(summary(shown, 5, 2)).toBe('4 min: mean score 3.33, highest 6.00, above the alarm threshold for about 1 min.')
  expect(summary(shown, 9, 2)).toContain('above the alert threshold for about 2 min')
  expect(summary(shown, 9, 8)).toContain('never above a threshold')
  expect(summary(trend([], []), 9, 8)).toBe('No scores in this time range.')
})

test('a time range in which nothing was scored has no scores', () => {
  expect(hasScores(trend([], []))).toBe(false)
  expect(hasScores(trend([0, 60], [null, null]))).toBe(false)
  expect(hasScores(trend([0, 60], [null, 1]))).toBe(true)
})
