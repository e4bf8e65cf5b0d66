/** Live sound and the age of data, without a browser. */
import { expect, test } from 'vitest'
import { recordingName } from '../src/lib/fileName'
import { Freshness } from '../src/lib/freshness'
import { contextRate, decodePiece, limiterCurve, nextStart } from '../src/lib/livePlayer'

test('a piece of live sound', () => {
  const message = new ArrayBuffer(24)
  const view = new DataView(message)
  view.setFloat64(0, 1.79e9, true)
  view.setFloat32(8, 0.25, true)
  view.setUint32(12, 16000, true)
  view.setUint32(16, 1, true)
  view.setInt16(20, 32767, true)
  view.setInt16(22, -32767, true)
  expect(decodePiece(message)).toEqual({ time: 1.79e9, age: 0.25, rate: 16000, hasVoices: true, samples: Float32Array.of(1, -1) })
})

test('pieces follow each other, wait after a gap, and are left out when too many wait', () => {
  expect(nextStart(5.2, 5)).toBe(5.2)
  expect(nextStart(4.9, 5)).toBeCloseTo(5.3)
  expect(nextStart(6.1, 5)).toBeNull()
})

test('the guard lets nothing loud through and leaves quiet sound as it is', () => {
  const curve = limiterCurve()
  expect(Math.max(...curve)).toBeLessThanOrEqual(0.7)
  expect(Math.min(...curve)).toBeGreaterThanOrEqual(-0.7)
  const quarter = 512 + 128
  expect(curve[quarter]).toBeCloseTo(0.25)
  expect([...curve].every((value, index) => index === 0 || value >= curve[index - 1]!)).toBe(true)
})

test('slow sensors are played at a rate that browsers have', () => {
  expect(contextRate(16000)).toBe(16000)
  expect(contextRate(2000)).toBe(8000)
})

test('the age of data counts from its arrival', () => {
  let now = 100
  const freshness = new Freshness(() => now)
  expect(freshness.age('fan-1')).toBeNull()
  freshness.set({ id: 'fan-1', data_age: null })
  expect(freshness.age('fan-1')).toBeNull()
  freshness.set({ id: 'fan-1', data_age: 4 })
  now = 108
  expect(freshness.age('fan-1')).toBe(12)
  freshness.arrived('fan-1')
  expect(freshness.age('fan-1')).toBe(1)
  freshness.remove('fan-1')
  expect(freshness.age('fan-1')).toBeNull()
})

test('files are named by machine and local time', () => {
  expect(recordingName('fan-1', 1_790_000_000, 'Europe/Berlin', 'flac')).toBe('fan-1_2026-09-21_16-13-20.flac')
})
