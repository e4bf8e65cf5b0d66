import { expect, test } from 'vitest'
import type { Machine, MachineEvent, MachineState } from '../src/api/types'
import { lastSound } from '../src/lib/lastSound'
import { byUrgency, standing, unseenEvents } from '../src/lib/states'

function machine(id: string, state: MachineState, more: Partial<Machine> = {}): Machine {
  return { id, name: id, site: '', state, muted_until: null, open_events: 0, ...more } as Machine
}

function order(machines: Machine[]): string[] {
  return [...machines].sort(byUrgency).map((made) => made.id)
}

test('worst first', () => {
  const states: MachineState[] = ['starting', 'off', 'learning', 'normal', 'lost', 'alert', 'alarm']
  expect(order(states.map((state) => machine(state, state)))).toEqual([...states].reverse())
})

test('within a state: what nobody has seen to, then what is not muted, then by name', () => {
  const machines = [
    machine('pump 10', 'normal'),
    machine('pump 9', 'normal'),
    machine('muted', 'normal', { muted_until: 5 }),
    machine('zzz', 'normal', { open_events: 1 }),
  ]
  expect(order(machines)).toEqual(['zzz', 'pump 9', 'pump 10', 'muted'])
})

test('a higher score does not move a card', () => {
  expect(order([machine('b', 'normal', { score: 9 }), machine('a', 'normal', { score: 1 })])).toEqual(['a', 'b'])
})

test('events to acknowledge: alarms before alerts, then the newest', () => {
  const event = (id: string, level: string, began: number, state = 'active') =>
    ({ id, level, began, state }) as MachineEvent
  const events = [event('old', 'alarm', 1), event('alert', 'alert', 9), event('new', 'alarm', 5), event('done', 'alarm', 7, 'cleared')]
  expect(unseenEvents(events).map(({ id }) => id)).toEqual(['new', 'old', 'alert'])
})

test('a machine that is not judged says what it waits for', () => {
  const waiting = { state: 'starting', model: '', learning: null, last_sound: 5 } as const
  expect(standing({ ...waiting, last_sound: null })).toBe('Waits for the first sound.')
  expect(standing(waiting)).toBe('Waits to learn its normal sound.')
  expect(standing({ ...waiting, model: 'texture' })).toContain('Judged as soon as')
  expect(standing({ ...waiting, state: 'off' })).toContain('Switched off')
})

test('how long ago the last sound was, once it is a minute', () => {
  const heard = { state: 'normal', last_sound: 1000 } as const
  expect(lastSound(heard, 1059, 1)).toBe('')
  expect(lastSound(heard, 1360, 1)).toBe('Last sound 6 min ago')
  expect(lastSound(heard, 1360, 8)).toBe('')
  expect(lastSound({ ...heard, state: 'lost' }, 1360, 1)).toBe('')
  expect(lastSound({ ...heard, last_sound: null }, 1360, 1)).toBe('')
})
