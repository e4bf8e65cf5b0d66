import { expect, test } from 'vitest'
import { daysOf, shifted, weekOf } from '../src/lib/weeks'

test('weeks begin on Monday and belong to the year of their Thursday', () => {
  expect(weekOf('2026-11-18')).toBe('2026-W47')
  expect([weekOf('2024-12-29'), weekOf('2024-12-30'), weekOf('2027-01-03')]).toEqual(['2024-W52', '2025-W01', '2026-W53'])
})

test('weeks before and after, across years', () => {
  expect([shifted('2026-W01', -1), shifted('2026-W53', 1), shifted('2026-W47', -4)]).toEqual(['2025-W52', '2027-W01', '2026-W43'])
})

test('the first and the last day', () => {
  expect(daysOf('2026-W47')).toEqual(['2026-11-16', '2026-11-22'])
})
