import { describe, expect, test } from 'vitest'
import { axisLabel, clock, day, duration, fromInput, moment, stamp, toInput } from '../src/lib/time'

const NOON = Date.UTC(2026, 0, 15, 12, 0, 5) / 1000

describe('times are those of the service', () => {
  test('whatever zone the reader is in', () => {
    expect(stamp(NOON, 'Europe/Berlin')).toBe('2026-01-15 13:00:05')
    expect(clock(NOON, 'Asia/Tokyo')).toBe('21:00:05')
    expect(day(NOON + 4 * 3600, 'Asia/Tokyo')).toBe('2026-01-16')
  })

  test('midnight is 00, not 24', () => {
    expect(clock(Date.UTC(2026, 0, 15) / 1000, 'UTC')).toBe('00:00:00')
  })

  test('today without the day, else without the seconds', () => {
    expect(moment(NOON, NOON + 60, 'UTC')).toBe('12:00:05')
    expect(moment(NOON, NOON + 86_400, 'UTC')).toBe('2026-01-15 12:00')
  })
})

describe('what people type is in the time zone of the service', () => {
  test.each(['Europe/Berlin', 'Asia/Kolkata', 'America/New_York'])('there and back in %s', (zone) => {
    const whole = Math.floor(NOON / 60) * 60
    expect(fromInput(toInput(whole, zone), zone)).toBe(whole)
  })

  test('on both sides of the change to summer time', () => {
    expect(fromInput('2026-03-29T01:30', 'Europe/Berlin')).toBe(Date.UTC(2026, 2, 29, 0, 30) / 1000)
    expect(fromInput('2026-03-29T03:30', 'Europe/Berlin')).toBe(Date.UTC(2026, 2, 29, 1, 30) / 1000)
  })

  test('invalid input is null', () => {
    expect(fromInput('soon', 'UTC')).toBeNull()
  })
})

test.each([
  [-3, '0 s'],
  [59, '59 s'],
  [90, '2 min'],
  [3600, '1 h'],
  [12_000, '3 h 20 min'],
  [86_400 * 5 + 7200, '5 d 2 h'],
])('%d seconds are %s', (seconds, text) => {
  expect(duration(seconds)).toBe(text)
})

test('labels of an axis are as fine as their distance', () => {
  expect(axisLabel(NOON, 10, 'UTC')).toBe('12:00:05')
  expect(axisLabel(NOON, 3600, 'UTC')).toBe('12:00')
  expect(axisLabel(Date.UTC(2026, 0, 15) / 1000, 3600, 'UTC')).toBe('01-15')
  expect(axisLabel(NOON, 30 * 86_400, 'UTC')).toBe('2026-01')
})
