import { expect, test } from 'vitest'
import type { MachineEvent } from '../src/api/types'
import { mergedEvents } from '../src/lib/events'
import { filterOf, searchLink, searchOf } from '../src/lib/eventSearch'

const event = (id: string, began: number, more: Partial<MachineEvent> = {}) =>
  ({ id, began, machine: 'fan-1', kind: 'anomaly', state: 'active', ...more }) as MachineEvent
const ALL = { machine: '', kind: '', open: false }
const ids = (events: MachineEvent[]) => events.map(({ id }) => id)

test('new events of the stream are added, newest first', () => {
  expect(ids(mergedEvents([event('b', 2), event('a', 1)], [event('c', 3)], ALL, false))).toEqual(['c', 'b', 'a'])
})

test('a changed event replaces the fetched one', () => {
  const [merged] = mergedEvents([event('a', 1)], [event('a', 1, { state: 'acknowledged' })], ALL, false)
  expect(merged?.state).toBe('acknowledged')
})

test('only events that match the filter are shown', () => {
  const live = [event('b', 2, { machine: 'pump-1' }), event('c', 3, { kind: 'drift' }), event('a', 1, { state: 'cleared' })]
  const fetched = [event('a', 1)]
  expect(ids(mergedEvents(fetched, live, { ...ALL, machine: 'fan-1' }, false))).toEqual(['c', 'a'])
  expect(ids(mergedEvents(fetched, live, { ...ALL, kind: 'anomaly' }, false))).toEqual(['b', 'a'])
  expect(ids(mergedEvents(fetched, live, { ...ALL, open: true }, false))).toEqual(['c', 'b'])
})

test('what belongs to a later page is not added before that is fetched', () => {
  const fetched = [event('c', 3), event('b', 2)]
  expect(ids(mergedEvents(fetched, [event('a', 1)], ALL, true))).toEqual(['c', 'b'])
  expect(ids(mergedEvents(fetched, [event('a', 1)], ALL, false))).toEqual(['c', 'b', 'a'])
})

test('a search is left to the service: the stream only updates what was found', () => {
  const live = [event('a', 1, { state: 'acknowledged' }), event('b', 2)]
  const [found, ...others] = mergedEvents([event('a', 1)], live, { ...ALL, text: 'belt' }, false)
  expect([found?.id, found?.state, others.length]).toEqual(['a', 'acknowledged', 0])
})

test('levels, labels, faults and times are matched', () => {
  const looks_like = { fault: 'loose belt', earlier_events: 3, similarity: 0.9 }
  const live = [
    event('a', 10, { level: 'alarm', label: '', fault: '', looks_like, ended: 20 }),
    event('b', 30, { level: 'alert', label: 'normal', fault: 'dry bearing', looks_like: null, ended: null }),
    event('c', 5, { level: 'alert', label: '', fault: '', looks_like: null, ended: 6 }),
  ]
  const matching = (part: object) => ids(mergedEvents([], live, { ...ALL, ...part }, false))
  expect(matching({ level: 'alarm' })).toEqual(['a'])
  expect(matching({ label: 'none' })).toEqual(['a', 'c'])
  expect(matching({ label: 'normal' })).toEqual(['b'])
  expect(matching({ fault: 'loose belt' })).toEqual(['a'])
  expect(matching({ unnamed: true })).toEqual(['c'])
  expect(matching({ begin: 15 })).toEqual(['b', 'a'])
  expect(matching({ begin: 8, end: 25 })).toEqual(['a'])
})

test('days are those of the plant, the last one included', () => {
  const search = searchOf(new URLSearchParams('from=2026-03-28&to=2026-03-29&open=true'))
  const { begin = 0, end = 0, open } = filterOf(search, 'Europe/Berlin')
  expect([new Date(begin * 1000).toISOString(), (end - begin) / 3600, open]).toEqual(['2026-03-27T23:00:00.000Z', 47, true])
  expect(filterOf(searchOf(new URLSearchParams('from=x&to=2026-99-99')), 'UTC').end).toBeUndefined()
  expect(searchLink(search)).toBe('#/events?open=true&from=2026-03-28&to=2026-03-29')
})
