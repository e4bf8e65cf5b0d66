import { expect, test } from 'vitest'
import fixtures from '../mock/fixtures.json'
import type { LineSet, NamedLine } from '../src/api/types'
import {
  binShare,
  drawnLines,
  drawnName,
  harmonicsOf,
  highestPeaks,
  levelAt,
  linesAt,
  linesText,
  nextPeak,
  peakNear,
  sidebandsOf,
  speedText,
} from '../src/lib/diagnosis'

const LINES = fixtures.LineSet as LineSet
const NAMED = fixtures.NamedLine as NamedLine
const SPECTRUM = { spacing: 0.5, levels: Array.from({ length: 400 }, (_, index) => (index === 100 || index === 200 ? -20 : -60)) }

test('what lies on a line is named with its abbreviation and its harmonics', () => {
  expect(linesText([])).toBe('')
  expect(linesText([NAMED])).toBe('on the line of the outer race of bearing drive end (BPFO, 108 Hz, 2 harmonics)')
  const ball = { ...NAMED, kind: 'bsf', multiple: 2, harmonics: 1, part: '' } as NamedLine
  const mesh = { ...NAMED, kind: 'mesh', multiple: 2, harmonics: 0, sideband: -1, part: 'input' } as NamedLine
  expect(linesText([ball, mesh])).toBe(
    'on the line of a rolling element of bearing (2 × BSF, 108 Hz, 1 harmonic) or the gear mesh input (108 Hz, 2 times, sideband −1)',
  )
})

test('without a speed the page says why there are no lines', () => {
  expect(speedText(LINES, false)).toBe('Shaft at 2100 rpm, from its machine data.')
  expect(speedText({ ...LINES, speed_rpm: null, speed_origin: 'changing' }, false)).toContain('The speed is changing')
  expect(speedText({ ...LINES, speed_rpm: null, speed_origin: 'unknown' }, true)).toContain('The speed during the event is not known')
})

test('lines have harmonics, and a frequency lies on those that are near enough', () => {
  const drawn = drawnLines(LINES.lines, 250)
  expect(drawn.every(({ hz }) => hz <= 250)).toBe(true)
  expect(linesAt(215.6, drawn, 0.1).map(drawnName)[0]).toBe('2 × BPFO drive end')
  expect(linesAt(123, drawn, 0.1)).toEqual([])
})

test('a cursor has harmonics and sidebands within the range', () => {
  expect(harmonicsOf(60, 200)).toEqual([60, 120, 180])
  expect(harmonicsOf(0, 200)).toEqual([])
  expect(sidebandsOf(100, 35, 180)).toEqual([65, 135, 30, 170])
  expect(sidebandsOf(100, 0, 180)).toEqual([])
})

test('a click near a peak means the peak, and keys go from peak to peak', () => {
  expect(peakNear(SPECTRUM, 48, 5)).toBe(50)
  expect(peakNear(SPECTRUM, 30, 2)).toBeCloseTo(30)
  expect(nextPeak(SPECTRUM, 0, 1)).toBe(50)
  expect(nextPeak(SPECTRUM, 50, 1)).toBe(100)
  expect(nextPeak(SPECTRUM, 100, 1)).toBe(100)
  expect(nextPeak(SPECTRUM, 100, -1)).toBe(50)
  expect(levelAt(SPECTRUM, 50.1)).toBe(-20)
  expect(levelAt(SPECTRUM, 1000)).toBeNull()
  expect(highestPeaks(SPECTRUM, 60)).toEqual([100])
})

test('a frequency has its place between the bins of a spectrogram', () => {
  expect(binShare(150, [100, 200, 400])).toBeCloseTo(1 / 3)
  expect(binShare(50, [100, 200, 400])).toBeNull()
  expect(binShare(500, [100, 200, 400])).toBeNull()
})
