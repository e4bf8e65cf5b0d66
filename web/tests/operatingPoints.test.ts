import { expect, test } from 'vitest'
import type { OperatingPoint } from '../src/api/types'
import { oneOfSeveral, currentPointText } from '../src/lib/operatingPoints'

const point = (number: number, name = ''): OperatingPoint => ({ number, name, share: 0.5, level_dbfs: -30, usual_score: 0.1, speed_rpm: null, load_percent: null })
const runs = (operating_point: number | null, ...operating_points: OperatingPoint[]) => ({ operating_points, operating_point })

test('the current point by name or by number', () => {
  expect(currentPointText(runs(1, point(1, 'half load'), point(2)))).toBe('half load')
  expect(currentPointText(runs(2, point(1, 'half load'), point(2)))).toBe('point 2 of 2')
})

test('what is shown without a current point', () => {
  expect(currentPointText(runs(null))).toBe('not learned yet')
  expect(currentPointText(runs(1, point(1)))).toBe('only one')
  expect(currentPointText(runs(0, point(1), point(2)))).toBe('unknown operating point')
  expect(currentPointText(runs(null, point(1), point(2)))).toBe('not determined')
})

test('the point is named only where there are several', () => {
  expect(oneOfSeveral(runs(1, point(1, 'idle')))).toBe('')
  expect(oneOfSeveral(runs(1, point(1, 'idle'), point(2)))).toBe('idle')
  expect(oneOfSeveral(runs(0, point(1), point(2)))).toBe('')
})
