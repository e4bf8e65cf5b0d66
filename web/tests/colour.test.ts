import { expect, test } from 'vitest'
import { contrast, mapAlpha, overlay, pixels, SCALE } from '../src/lib/colour'

test('louder is lighter, step by step', () => {
  const lightness = SCALE.map(([red, green, blue]) => 0.2126 * red + 0.7152 * green + 0.0722 * blue)
  expect(SCALE).toHaveLength(256)
  lightness.slice(1).forEach((value, index) => expect(value).toBeGreaterThanOrEqual(lightness[index] ?? 0))
})

test('low frequencies are at the bottom, time runs to the right, what is missing is clear', () => {
  const made = pixels([[0, 255], null], 2, [0, 255])
  const at = (x: number, y: number) => [...made.slice((y * 2 + x) * 4, (y * 2 + x) * 4 + 4)]
  expect(at(0, 0)).toEqual([...(SCALE[255] ?? []), 255])
  expect(at(0, 1)).toEqual([...(SCALE[0] ?? []), 255])
  expect(at(1, 0)[3]).toBe(0)
})

test('colours reach over what there is, but do not blow up a hiss', () => {
  const columns = Array.from({ length: 100 }, () => Array.from({ length: 100 }, (_, bin) => 100 + bin))
  expect(contrast(columns)).toEqual([102, 199])
  expect(contrast([[90, 91, 92]])).toEqual([74, 122])
  expect(contrast([null])).toEqual([239, 255])
  expect([...pixels([[150]], 1, [100, 150])]).toEqual([...(SCALE[255] ?? []), 255])
})

test('the anomaly map is transparent where nothing is unusual', () => {
  expect(mapAlpha(80, 1)).toBe(0)
  expect(mapAlpha(255, 1)).toBe(255)
  expect(mapAlpha(255, 0.5)).toBe(128)
  expect([...overlay([[0, 255]], 2, 1)].filter((_, index) => index % 4 === 3)).toEqual([255, 0])
})
