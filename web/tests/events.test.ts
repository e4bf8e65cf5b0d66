import { expect, test } from 'vitest'
import type { MachineEvent } from '../src/api/types'
import { mergedEvents } from '../src/lib/events'

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
