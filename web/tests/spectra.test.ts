import { expect, test } from 'vitest'
import type { Spectrogram } from '../src/api/types'
import { bandShares } from '../src/lib/bands'
import { levels, onScaleOf } from '../src/lib/stft'
import { extended, frequencyTicks } from '../src/lib/liveSpectrogram'

function part(begin: number, values: number[]): Spectrogram {
  return { hz: [100], begin, seconds_per_column: 1, columns: values.map((value) => [value]), low_db: 0, high_db: 1 }
}

const shown = (columns: (number[] | null)[]) => columns.map((column) => column?.[0] ?? null)

test('new columns are appended, however they overlap', () => {
  const first = extended(null, part(0, [0, 1, 2, 3]), 4)
  const next = extended(first, part(2, [2, 3, 4, 5]), 4)
  expect(shown(next.columns)).toEqual([2, 3, 4, 5])
  expect(next.end).toBe(6)
})

test('a pause leaves a gap of its length', () => {
  const next = extended(extended(null, part(0, [0, 1]), 6), part(4, [4, 5]), 6)
  expect(shown(next.columns)).toEqual([0, 1, null, null, 4, 5])
})

test('an old answer changes nothing', () => {
  const current = extended(null, part(10, [10, 11]), 2)
  expect(shown(extended(current, part(9, [9, 10]), 2).columns)).toEqual([10, 11])
})

const HZ = Array.from({ length: 64 }, (_, bin) => 125 * (bin + 0.5))

test('ticks are round frequencies at their place, far enough apart to be read', () => {
  const ticks = frequencyTicks(HZ, 4)
  expect(ticks.map(({ hz }) => hz)).toEqual([4000, 2000, 200])
  expect(ticks[0]?.share).toBeCloseTo(0.5, 2)
})

test('bands lie where their frequencies are', () => {
  const [[low, high] = [0, 0]] = bandShares([[2000, 4000]], HZ)
  expect(low).toBeCloseTo(0.25, 2)
  expect(high).toBeCloseTo(0.5, 2)
})

function tone(hz: number, gain: number): Float32Array {
  return Float32Array.from({ length: 16_000 }, (_, index) => gain * Math.sin((2 * Math.PI * hz * index) / 16_000))
}

test('a tone is loudest in its own band', () => {
  const column = levels(tone(1062.5, 1), 16_000, HZ, 0.1)[0] ?? []
  expect(column.indexOf(Math.max(...column))).toBe(8)
})

test('a sample is drawn on the scale of the other spectrogram', () => {
  const loud = levels(tone(1062.5, 1), 16_000, HZ, 0.1)
  const quiet = levels(tone(1062.5, 0.1), 16_000, HZ, 0.1)
  const picture = loud.map((column) => column.map(() => 200))
  const made = onScaleOf(quiet, loud, picture, -100, 0)
  // 20 dB of 100 dB are 51 of 255 steps.
  expect(made[0]?.[8]).toBe(149)
})
