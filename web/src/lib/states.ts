import type { EventKind, EventState, MachineEvent, MachineState, MachineStatus } from '../api/types'

/** From the most to the least urgent. */
export const STATES: readonly MachineState[] = ['alarm', 'alert', 'lost', 'normal', 'learning', 'off', 'starting']

export const STATE_NAMES: Record<MachineState, string> = {
  alarm: 'Alarm',
  alert: 'Alert',
  lost: 'No sound',
  normal: 'Normal',
  learning: 'Learning',
  off: 'Off',
  starting: 'Waiting',
}

export const STATE_HELP: Record<MachineState, string> = {
  alarm: 'Very unusual sound.',
  alert: 'Unusual sound.',
  lost: 'No sound arrives from its source.',
  normal: 'Normal sound.',
  learning: 'A baseline is being learned.',
  off: 'Switched off: not judged.',
  starting: 'Not judged yet: too little sound so far, or no baseline.',
}

/** Whether it has no model and is not learning one. */
export function needsBaseline(machine: Pick<MachineStatus, 'model' | 'learning'>): boolean {
  return !machine.model && !machine.learning
}

export function isMuted(machine: Pick<MachineStatus, 'muted_until'>): boolean {
  return machine.muted_until !== null
}

/** The state of a machine in a sentence. */
export function stateSentence(machine: Pick<MachineStatus, 'state' | 'model' | 'learning' | 'last_sound'>): string {
  if (machine.state !== 'starting') return STATE_HELP[machine.state]
  if (machine.last_sound === null) return 'Waiting for the first sound.'
  if (needsBaseline(machine)) return 'Waiting for a baseline to be learned.'
  return 'Waiting for enough continuous sound.'
}

export const EVENT_STATE_NAMES: Record<EventState, string> = {
  active: 'Unacknowledged',
  acknowledged: 'Acknowledged',
  cleared: 'Closed',
}

/** "Unacknowledged, active": whether someone has seen it, and whether it is over. */
export function eventSentence(event: Pick<MachineEvent, 'state' | 'ended'>): string {
  return `${EVENT_STATE_NAMES[event.state]}, ${event.ended === null ? 'active' : 'over'}`
}

export const KIND_NAMES: Record<EventKind, string> = {
  anomaly: 'Unusual sound',
  drift: 'Slow change',
  signal: 'Source',
}

/**
 * Most urgent first; within a state those with active events, then those not muted, then by site and
 * name. Not by score: cards that swap places every second cannot be found again.
 */
export function byUrgency(a: MachineStatus, b: MachineStatus): number {
  return (
    STATES.indexOf(a.state) - STATES.indexOf(b.state) ||
    Number(b.open_events > 0) - Number(a.open_events > 0) ||
    Number(isMuted(a)) - Number(isMuted(b)) ||
    a.site.localeCompare(b.site) ||
    a.name.localeCompare(b.name, undefined, { numeric: true }) ||
    a.id.localeCompare(b.id)
  )
}

/** Alarms first, then the newest. */
export function unacknowledgedEvents(events: Iterable<MachineEvent>): MachineEvent[] {
  return [...events]
    .filter((event) => event.state === 'active')
    .sort((a, b) => Number(b.level === 'alarm') - Number(a.level === 'alarm') || b.began - a.began)
}
