import { expect, test } from 'vitest'
import type { EventSpectrogram, MachineState, Spectrum } from '../src/api/types'
import { bandLevels, comparison, eventLevels, normalBand, type When } from '../src/lib/spectrum'

const HZ = [500, 1000, 2000, 3000, 5000, 7000]

function spectrum(now: (number | null)[], hasBand = true): Spectrum {
  const band = (level: number) => (hasBand ? HZ.map(() => level) : [])
  return { hz: HZ, now, low: band(-60), mean: band(-50), high: band(-40) }
}

const text = (made: Spectrum, state: MachineState = 'normal', point = '', of: When = 'now') => comparison(made, state, point, of)
const INSIDE = HZ.map(() => -50)

test('without a band or a sound there is nothing to compare', () => {
  expect(text(spectrum(INSIDE, false))).toBe('No normal band yet: learn a baseline first.')
  expect(text(spectrum([]))).toBe('No sound at the moment.')
  expect(text(spectrum(INSIDE), 'lost')).toBe('No sound at the moment.')
  expect(text(spectrum(INSIDE), 'off')).not.toContain('band')
})

test('within the band, also during an alarm', () => {
  expect(text(spectrum(INSIDE))).toBe('Now within the normal band at all frequencies.')
  expect(text(spectrum(INSIDE), 'normal', 'half load')).toBe('Now within the normal band at half load at all frequencies.')
  expect(text(spectrum(INSIDE), 'alarm')).toContain('what is unusual is how the sound changes')
  expect(text(spectrum(INSIDE), 'normal', '', 'lastSound')).toMatch(/^Last sound: within/)
})

test('louder and quieter, with neighbouring bins joined', () => {
  expect(text(spectrum([-50, -50, -50, -70, -70, -70]))).toBe('Now quieter than normal at 3 to 7 kHz.')
  expect(text(spectrum([-30, -50, -50, -50, -50, -50]), 'alarm')).toBe('Now louder than normal at 500 Hz.')
  expect(text(spectrum([-30, -30, -50, -70, -50, -50]))).toBe('Now louder than normal at 500 Hz to 1 kHz; quieter at 3 kHz.')
})

test('the normal sound is named with its operating point and its baseline', () => {
  const louder = spectrum([-30, -50, -50, -50, -50, -50])
  expect(text(louder, 'alarm', 'half load', 'event')).toBe('In this event louder than normal at half load at 500 Hz.')
  expect(normalBand('half load', Date.UTC(2026, 10, 3, 14) / 1000, 'UTC')).toBe('normal at half load, baseline of 3 Nov 2026, 14:00')
  expect(normalBand('', null, 'UTC')).toBe('normal')
})

test('a little outside counts as within, and a missing value as nothing', () => {
  expect(text(spectrum([-39.5, -60.5, null, -50, -50, -50]))).toContain('within')
})

test('the spectrum of an event is that of the columns while it lasts', () => {
  const columns = [[0, 0], [255, 51], [255, 51], [0, 0]]
  const picture = { hz: [100, 200], begin: 10, seconds_per_column: 1, columns, low_db: -100, high_db: 0, anomaly_map: [] } as EventSpectrogram
  expect(eventLevels(picture, 11, 13)).toEqual([0, -80])
  expect(eventLevels(picture, 13, null)).toEqual([-100, -100])
  expect(eventLevels(picture, 20, null)).toEqual([])
})

test('levels of the bands while an event lasts', () => {
  const trend = { seconds_per_point: 10, edges_hz: [30, 100, 300], time: [10, 20], level_dbfs: [-30, -30], levels: [[-60, -40], [-50, -20]] }
  expect(bandLevels(trend)).toEqual([-55, -30])
  expect(bandLevels({ ...trend, time: [], levels: [] })).toEqual([])
})
