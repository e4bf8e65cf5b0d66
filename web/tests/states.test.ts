import { expect, test } from 'vitest'
import type { MachineStatus, MachineEvent, MachineState } from '../src/api/types'
import { lastSound } from '../src/lib/lastSound'
import { byUrgency, eventSentence, isMuted, kindName, mutedUntil, stateSentence, unacknowledgedEvents } from '../src/lib/states'

const NOW = 1000

function machine(id: string, state: MachineState, more: Partial<MachineStatus> = {}): MachineStatus {
  return { id, name: id, site: '', state, muted_until: null, ongoing_events: 0, ...more } as MachineStatus
}

function order(machines: MachineStatus[]): string[] {
  return [...machines].sort(byUrgency(NOW)).map((made) => made.id)
}

test('worst first', () => {
  const states: MachineState[] = ['starting', 'off', 'learning', 'normal', 'lost', 'alert', 'alarm']
  expect(order(states.map((state) => machine(state, state)))).toEqual([...states].reverse())
})

test('within a state: with active events, then not muted, then by name', () => {
  const machines = [
    machine('pump 10', 'normal'),
    machine('pump 9', 'normal'),
    machine('muted', 'normal', { muted_until: NOW + 5 }),
    machine('zzz', 'normal', { ongoing_events: 1 }),
  ]
  expect(order(machines)).toEqual(['zzz', 'pump 9', 'pump 10', 'muted'])
})

test('a mute that has ended is none', () => {
  expect(mutedUntil({ muted_until: NOW + 1 }, NOW)).toBe(NOW + 1)
  expect(mutedUntil({ muted_until: NOW }, NOW)).toBeNull()
  expect(isMuted({ muted_until: NOW - 1 }, NOW)).toBe(false)
  expect(isMuted({ muted_until: null }, NOW)).toBe(false)
  expect(order([machine('b', 'normal'), machine('a', 'normal', { muted_until: NOW - 1 })])).toEqual(['a', 'b'])
})

test('a higher score does not move a card', () => {
  expect(order([machine('b', 'normal', { smoothed: 9 }), machine('a', 'normal', { smoothed: 1 })])).toEqual(['a', 'b'])
})

test('events to acknowledge: alarms before alerts, then the newest', () => {
  const event = (id: string, level: string, began: number, state = 'active') =>
    ({ id, level, began, state }) as MachineEvent
  const events = [event('old', 'alarm', 1), event('alert', 'alert', 9), event('new', 'alarm', 5), event('done', 'alarm', 7, 'cleared')]
  expect(unacknowledgedEvents(events).map(({ id }) => id)).toEqual(['new', 'old', 'alert'])
})

test('a machine that is not scored says what it is waiting for', () => {
  const waiting = { state: 'starting', model: '', baseline: null, learning: null, last_sound: 5, sensor: null } as const
  expect(stateSentence({ ...waiting, last_sound: null })).toBe('Waiting for the first sound.')
  expect(stateSentence(waiting)).toBe('Waiting for a baseline to be learned.')
  expect(stateSentence({ ...waiting, model: 'texture' })).toBe('Waiting for enough continuous sound.')
  const baseline = { learned_at: 5, recordings: 60, commissioned_at: null } // of snapshots: without a model
  expect(stateSentence({ ...waiting, baseline })).toBe('Waiting for enough continuous sound.')
  expect(stateSentence({ ...waiting, state: 'off' })).toContain('Switched off')
})

test('what a vibration sensor measures is not called sound', () => {
  const sensed = (unit: string) => ({ ...machine('m', 'alert'), sensor: { unit } }) as MachineStatus
  expect(kindName('anomaly', sensed('g'))).toBe('Unusual vibration')
  expect(stateSentence(sensed('mm/s'))).toBe('Unusual vibration.')
  for (const unit of ['', 'Pa']) {
    expect(kindName('anomaly', sensed(unit))).toBe('Unusual sound')
    expect(stateSentence(sensed(unit))).toBe('Unusual sound.')
  }
  expect(kindName('signal', sensed('g'))).toBe('Source')
  expect(kindName('anomaly', undefined)).toBe('Unusual sound') // of a machine that was removed
  expect(stateSentence({ ...sensed('g'), state: 'off' })).toContain('Switched off')
})

test('how long ago the last sound was, once it is a minute', () => {
  const quiet = { state: 'normal', last_sound: 1000, sensor: null } as const
  expect(lastSound(quiet, 1059, 1)).toBe('')
  expect(lastSound(quiet, 1360, 1)).toBe('Last sound 6 min ago')
  expect(lastSound(quiet, 1360, 8)).toBe('')
  expect(lastSound({ ...quiet, state: 'lost' }, 1360, 1)).toBe('')
  expect(lastSound({ ...quiet, last_sound: null }, 1360, 1)).toBe('')
  const sensor = { unit: 'g', full_scale: 50, sample_rate: 25_600, axes: [], at_intervals: true } as const
  expect(lastSound({ ...quiet, sensor: { ...sensor, axes: [] } }, 1360, 1)).toBe('Last measurement 6 min ago')
})

test('an event says whether it was acknowledged and whether it is over', () => {
  expect(eventSentence({ state: 'active', ended: null })).toBe('Unacknowledged, active')
  expect(eventSentence({ state: 'active', ended: 5 })).toBe('Unacknowledged, over')
  expect(eventSentence({ state: 'acknowledged', ended: null })).toBe('Acknowledged, active')
})
