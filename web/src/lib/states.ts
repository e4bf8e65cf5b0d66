import type { EventState, Machine, MachineEvent, MachineState } from '../api/types'

/** From the most to the least that someone should look at. */
export const STATES: readonly MachineState[] = ['alarm', 'alert', 'lost', 'normal', 'learning', 'off', 'starting']

export const STATE_WORDS: Record<MachineState, string> = {
  alarm: 'Alarm',
  alert: 'Alert',
  lost: 'No sound',
  normal: 'Normal',
  learning: 'Learning',
  off: 'Off',
  starting: 'Waiting',
}

export const STATE_HELP: Record<MachineState, string> = {
  alarm: 'Sounds clearly unlike its normal self.',
  alert: 'Sounds unlike its normal self.',
  lost: 'Its sound does not arrive.',
  normal: 'Sounds as it was learnt.',
  learning: 'Its normal sound is being learnt.',
  off: 'Switched off: nothing is judged.',
  starting: 'Not judged yet: too little was heard, or its normal sound is not learnt.',
}

/** Whether it is judged by nothing, and nobody has told it to learn. */
export function waitsToLearn(machine: Pick<Machine, 'model' | 'learning'>): boolean {
  return !machine.model && !machine.learning
}

/** How a machine is, in a sentence. */
export function standing(machine: Pick<Machine, 'state' | 'model' | 'learning' | 'last_sound'>): string {
  if (machine.state !== 'starting') return STATE_HELP[machine.state]
  if (machine.last_sound === null) return 'Waits for the first sound.'
  if (waitsToLearn(machine)) return 'Waits to learn its normal sound.'
  return 'Judged as soon as enough was heard in one piece.'
}

export const EVENT_STATE_WORDS: Record<EventState, string> = {
  active: 'Not acknowledged',
  acknowledged: 'Acknowledged',
  cleared: 'Closed',
}

export const KIND_WORDS: Record<MachineEvent['kind'], string> = {
  anomaly: 'Odd sound',
  drift: 'Slow change',
  signal: 'Signal',
}

/**
 * Worst first; within a state those that nobody has seen to, then those not muted, then by site and
 * name. Scores do not count: cards that swap places every second cannot be found again.
 */
export function byUrgency(a: Machine, b: Machine): number {
  return (
    STATES.indexOf(a.state) - STATES.indexOf(b.state) ||
    Number(b.open_events > 0) - Number(a.open_events > 0) ||
    Number(a.muted_until !== null) - Number(b.muted_until !== null) ||
    a.site.localeCompare(b.site) ||
    a.name.localeCompare(b.name, undefined, { numeric: true }) ||
    a.id.localeCompare(b.id)
  )
}

/** Those that nobody has acknowledged: alarms first, then the newest. */
export function unseenEvents(events: Iterable<MachineEvent>): MachineEvent[] {
  return [...events]
    .filter((event) => event.state === 'active')
    .sort((a, b) => Number(b.level === 'alarm') - Number(a.level === 'alarm') || b.began - a.began)
}
