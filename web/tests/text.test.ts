import { expect, test } from 'vitest'
import { machineId } from '../src/lib/machineId'
import { band, clockAccuracy, FALSE_ALERT_STOPS, falseAlerts, nearestStop, percent, rarity, score } from '../src/lib/numbers'
import { link, parse as route } from '../src/lib/route'

test('ids from names', () => {
  expect(machineId('Kühlmittelpumpe Nr. 1 (Süd)')).toBe('kuhlmittelpumpe-nr-1-sud')
  expect(machineId('!')).toBe('')
  expect(machineId('x'.repeat(99))).toHaveLength(64)
})

test('numbers as people read them', () => {
  expect([0.123, 12.34, 1234.5, null, NaN].map(score)).toEqual(['0.12', '12.3', '1235', '–', '–'])
  expect(band([850, 990])).toBe('850–990 Hz')
  expect(band([2240, 2980])).toBe('2.2–3 kHz')
  expect(band([800, 1500])).toBe('800 Hz–1.5 kHz')
  expect([0, 0.001, 0.6, 1].map(percent)).toEqual(['0 %', 'under 1 %', '60 %', '100 %'])
  expect(rarity(0.001)).toBe('1 of 1000 normal clips scores as high')
  expect(rarity(0)).toBe('fewer than 1 of 100,000 normal clips score as high')
})

test('the slider has a stop for the setting, or the nearest', () => {
  FALSE_ALERT_STOPS.forEach((stop, index) => expect(nearestStop(stop)).toBe(index))
  expect(falseAlerts(FALSE_ALERT_STOPS[nearestStop(6)] ?? 0)).toBe('1 false alert per day')
  expect(falseAlerts(3)).toBe('3 false alerts per week')
  expect(Math.min(...FALSE_ALERT_STOPS)).toBe(0.1)
})

test('addresses there and back', () => {
  const made = route(link('events', 'a/b ü', { open: 'true', kind: '' }))
  expect([made.page, made.id, made.query.toString()]).toEqual(['events', 'a/b ü', 'open=true'])
  expect(route('').page).toBe('overview')
  expect(route('#/machine/%E0%A4%A').id).toBe('%E0%A4%A')
})

test('the clock of a source', () => {
  expect([0.3, 12.4, -12.4].map(clockAccuracy)).toEqual(['accurate', '12 ppm fast', '12 ppm slow'])
})
