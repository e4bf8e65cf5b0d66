import { expect, test } from 'vitest'
import type { Machine, MachineEvent, MachineState } from '../src/api/types'
import { byUrgency, unseenEvents } from '../src/lib/states'

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
