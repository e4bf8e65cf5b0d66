import { expect, test } from 'vitest'
import type { MachineState, Spectrum } from '../src/api/types'
import { comparison } from '../src/lib/spectrum'

const HZ = [500, 1000, 2000, 3000, 5000, 7000]

function spectrum(now: (number | null)[], hasBand = true): Spectrum {
  const band = (level: number) => (hasBand ? HZ.map(() => level) : [])
  return { hz: HZ, now, low: band(-60), mean: band(-50), high: band(-40) }
}

const said = (made: Spectrum, state: MachineState = 'normal', at = '', isLate = false) => comparison(made, state, at, isLate)
const INSIDE = HZ.map(() => -50)

test('without a band or a sound nothing is said to be within it', () => {
  expect(said(spectrum(INSIDE, false))).toBe('There is no normal band to compare with yet.')
  expect(said(spectrum([]))).toBe('No sound just now.')
  expect(said(spectrum(INSIDE), 'lost')).toBe('No sound just now.')
  expect(said(spectrum(INSIDE), 'off')).not.toContain('band')
})

test('within the band, and what that means in an alarm', () => {
  expect(said(spectrum(INSIDE))).toBe('Now within the band of its normal sound at all frequencies.')
  expect(said(spectrum(INSIDE), 'normal', ' at half load')).toContain('normal sound at half load')
  expect(said(spectrum(INSIDE), 'alarm')).toContain('what is odd is how the sound changes')
  expect(said(spectrum(INSIDE), 'normal', '', true)).toMatch(/^When last heard, within/)
})

test('louder and quieter, with neighbours put together', () => {
  expect(said(spectrum([-50, -50, -50, -70, -70, -70]))).toBe('Now quieter than its normal sound at 3 to 7 kHz.')
  expect(said(spectrum([-30, -50, -50, -50, -50, -50]), 'alarm')).toBe('Now louder than its normal sound at 500 Hz.')
  expect(said(spectrum([-30, -30, -50, -70, -50, -50]))).toBe('Now louder than its normal sound at 500 Hz to 1 kHz; quieter at 3 kHz.')
})

test('a little outside is within, and a hole is nothing', () => {
  expect(said(spectrum([-39.5, -60.5, null, -50, -50, -50]))).toContain('within')
})
