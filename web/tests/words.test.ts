import { describe, expect, test } from 'vitest'
import { inline, parse } from '../src/lib/markdown'
import { machineId } from '../src/lib/names'
import { band, nearestStop, percent, rarity, score, weekly, WEEKLY_STOPS } from '../src/lib/numbers'
import { link, parse as route } from '../src/lib/route'

describe('model cards', () => {
  test('HTML stays text and no link runs a script', () => {
    expect(parse('<script>alert(1)</script>')).toEqual([
      { kind: 'paragraph', content: [{ kind: 'text', text: '<script>alert(1)</script>' }] },
    ])
    expect(inline('[press](javascript:alert)')).toEqual([{ kind: 'text', text: 'press' }])
    expect(inline('[page](https://example.org)')).toEqual([{ kind: 'link', text: 'page', href: 'https://example.org' }])
  })

  test('headings, lists, tables, code', () => {
    const text = '# A\n\n- one\n  more\n- two\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n```\nx | y\n```\nend'
    expect(parse(text).map(({ kind }) => kind)).toEqual(['heading', 'list', 'table', 'code', 'paragraph'])
  })

  test('whatever is written, it comes to an end', () => {
    for (const text of ['>', '```', '|', '| a |\n|', '#', '####### x', '-', '1.', '***', '* * x', '---\na'])
      expect(parse(text).length).toBeLessThanOrEqual(2)
  })
})

test('ids from names', () => {
  expect(machineId('Kühlmittelpumpe Nr. 1 (Süd)')).toBe('kuhlmittelpumpe-nr-1-sud')
  expect(machineId('!')).toBe('')
  expect(machineId('x'.repeat(99))).toHaveLength(64)
})

test('numbers as people read them', () => {
  expect([0.123, 12.34, 1234.5, null, NaN].map(score)).toEqual(['0.12', '12.3', '1235', '–', '–'])
  expect(band([850, 990])).toBe('850–990 Hz')
  expect(band([2240, 2980])).toBe('2.2–3.0 kHz')
  expect(band([800, 1500])).toBe('800 Hz–1.5 kHz')
  expect([0, 0.001, 0.6, 1].map(percent)).toEqual(['0 %', 'under 1 %', '60 %', '100 %'])
  expect(rarity(0.001)).toBe('1 of 1,000 normal clips scores as high')
  expect(rarity(0)).toBe('fewer than 1 of 100,000 normal clips score as high')
})

test('the slider has a stop for what is set, or the nearest', () => {
  WEEKLY_STOPS.forEach((stop, index) => expect(nearestStop(stop)).toBe(index))
  expect(weekly(WEEKLY_STOPS[nearestStop(6)] ?? 0)).toBe('1 a day')
  expect(weekly(3)).toBe('3.00 a week')
  expect(Math.min(...WEEKLY_STOPS)).toBe(0.1)
})

test('addresses there and back', () => {
  const made = route(link('events', 'a/b ü', { open: 'true', kind: '' }))
  expect([made.page, made.id, made.query.toString()]).toEqual(['events', 'a/b ü', 'open=true'])
  expect(route('').page).toBe('overview')
  expect(route('#/machine/%E0%A4%A').id).toBe('%E0%A4%A')
})
