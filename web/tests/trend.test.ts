import { expect, test } from 'vitest'
import type { Trend } from '../src/api/types'
import { appended, hasScores, summary, withHoles, type Spark } from '../src/lib/trend'

function trend(time: number[], high: (number | null)[]): Trend {
  return { seconds_per_point: 60, time, low: high, mean: high, high, state: time.map(() => 'normal') }
}

test('a spark keeps ten minutes at a readable density', () => {
  let spark: Spark = []
  for (let time = 0; time <= 2000; time++) spark = appended(spark, time, time)
  expect(spark.at(-1)).toEqual([2000, 2000])
  expect(spark[0]?.[0]).toBe(1405)
  expect(spark).toHaveLength(120)
})

test('where nothing is judged, a spark stays as it was', () => {
  const spark: Spark = [[1, 1]]
  expect(appended(spark, 100, null)).toBe(spark)
})

test('where nothing was heard, the line breaks', () => {
  const [time, , mean] = withHoles(trend([0, 60, 600, 660], [1, 2, 3, 4]))
  expect(time).toEqual([0, 60, 330, 600, 660])
  expect(mean).toEqual([1, 2, null, 3, 4])
})

test('neighbours are not torn apart', () => {
  expect(withHoles(trend([0, 60, 120], [1, 2, 3]))[0]).toEqual([0, 60, 120])
})

test('the summary tells mean, peak and time above the worst limit passed', () => {
  const shown = trend([0, 60, 120, 180], [1, 3, 6, null])
  expect(summary(shown, 5, 2)).toBe('4 min: score 3.33 on average, 6.00 at most, above the alarm limit for about 1 min.')
  expect(summary(shown, 9, 2)).toContain('above the alert limit for about 2 min')
  expect(summary(shown, 9, 8)).toContain('never above a limit')
  expect(summary(trend([], []), 9, 8)).toBe('No scores in this time.')
})

test('a time in which nothing was judged has no scores', () => {
  expect(hasScores(trend([], []))).toBe(false)
  expect(hasScores(trend([0, 60], [null, null]))).toBe(false)
  expect(hasScores(trend([0, 60], [null, 1]))).toBe(true)
})
