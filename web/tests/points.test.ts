import { expect, test } from 'vitest'
import type { OperatingPoint } from '../src/api/types'
import { atPoint, runsAt } from '../src/lib/points'

const point = (number: number, name = ''): OperatingPoint => ({ number, name, share: 0.5, level_dbfs: -30, usual: 0.1 })
const runs = (operating_point: number | null, ...operating_points: OperatingPoint[]) => ({ operating_points, operating_point })

test('the point it runs at, by name or by place', () => {
  expect(runsAt(runs(1, point(1, 'half load'), point(2)))).toBe('half load')
  expect(runsAt(runs(2, point(1, 'half load'), point(2)))).toBe('point 2 of 2')
})

test('no point is told in words', () => {
  expect(runsAt(runs(null))).toBe('not learnt yet')
  expect(runsAt(runs(1, point(1)))).toBe('one only')
  expect(runsAt(runs(0, point(1), point(2)))).toBe('like none that was learnt')
  expect(runsAt(runs(null, point(1), point(2)))).toBe('not known just now')
})

test('a baseline is said to be of a point only where there are several', () => {
  expect(atPoint(runs(1, point(1, 'idle')))).toBe('')
  expect(atPoint(runs(1, point(1, 'idle'), point(2)))).toBe(' at idle')
  expect(atPoint(runs(0, point(1), point(2)))).toBe('')
})
