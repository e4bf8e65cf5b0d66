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
  off: 'Switched off.',
  starting: 'Not scored yet: too little sound so far, or no baseline.',
}

/** Whether it has no model or baseline and is not learning one. */
export function needsBaseline(machine: Pick<MachineStatus, 'model' | 'baseline' | 'learning'>): boolean {
  return !machine.model && !machine.baseline && !machine.learning // of snapshots, a baseline is no model
}

/** When the mute ends; null where there is none at `now`. The service does not send that a mute has ended. */
export function mutedUntil(machine: Pick<MachineStatus, 'muted_until'>, now: number): number | null {
  return machine.muted_until !== null && machine.muted_until > now ? machine.muted_until : null
}

export function isMuted(machine: Pick<MachineStatus, 'muted_until'>, now: number): boolean {
  return mutedUntil(machine, now) !== null
}

/** The state of a machine in a sentence. */
export function stateSentence(machine: Pick<MachineStatus, 'state' | 'model' | 'baseline' | 'learning' | 'last_sound'>): string {
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
  drift: 'Drift',
  signal: 'Source',
}

/**
 * Most urgent first; within a state those with active events, then those not muted, then by site and
 * name. Not by score: cards that swap places every second cannot be found again.
 */
export function byUrgency(now: number): (a: MachineStatus, b: MachineStatus) => number {
  return (a, b) =>
    STATES.indexOf(a.state) - STATES.indexOf(b.state) ||
    Number(b.ongoing_events > 0) - Number(a.ongoing_events > 0) ||
    Number(isMuted(a, now)) - Number(isMuted(b, now)) ||
    a.site.localeCompare(b.site) ||
    a.name.localeCompare(b.name, undefined, { numeric: true }) ||
    a.id.localeCompare(b.id)
}

/** Alarms first, then the newest. */
export function unacknowledgedEvents(events: Iterable<MachineEvent>): MachineEvent[] {
  return [...events]
    .filter((event) => event.state === 'active')
    .sort((a, b) => Number(b.level === 'alarm') - Number(a.level === 'alarm') || b.began - a.began)
}
