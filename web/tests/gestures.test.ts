import { expect, test } from 'vitest'
import { dragged } from '../src/lib/gestures'

test('one finger moves the time under it', () => {
  expect(dragged([0, 100], [50], [30], 200)).toEqual([10, 110])
})

test('two fingers apart show half the time, the middle stays', () => {
  expect(dragged([0, 100], [80, 120], [60, 140], 200)).toEqual([25, 75])
})

test('two fingers keep both times under them while they also move', () => {
  const [begin, end] = dragged([0, 100], [40, 80], [100, 180], 200)
  const timeAt = (pixel: number) => begin + ((end - begin) * pixel) / 200
  expect(timeAt(100)).toBeCloseTo(20)
  expect(timeAt(180)).toBeCloseTo(40)
})

test('fingers that meet do not zoom out without end', () => {
  const [begin, end] = dragged([0, 100], [50, 150], [100, 100], 200)
  expect(end - begin).toBe(1250)
})
