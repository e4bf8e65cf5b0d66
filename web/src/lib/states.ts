import type { EventKind, EventState, MachineEvent, MachineState, MachineStatus } from '../api/types'
import { listed, named, t } from '../i18n'
import { measuresVibration } from './sensor'

/** From the most to the least urgent. */
export const STATES: readonly MachineState[] = ['alarm', 'alert', 'lost', 'normal', 'learning', 'off', 'starting']

export const STATE_NAMES: Readonly<Record<MachineState, string>> = named('states.names', STATES)
export const STATE_HELP: Readonly<Record<MachineState, string>> = named('states.help', STATES)

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

/** What alarm, alert and normal mean for a vibration sensor. */
const VIBRATION_HELP: Readonly<Partial<Record<MachineState, string>>> = named('states.vibration', ['alarm', 'alert', 'normal'])

/** The state of a machine in a sentence. */
export function stateSentence(
  machine: Pick<MachineStatus, 'state' | 'model' | 'baseline' | 'learning' | 'last_sound' | 'sensor'>,
): string {
  if (machine.state !== 'starting')
    return (measuresVibration(machine.sensor) && VIBRATION_HELP[machine.state]) || STATE_HELP[machine.state]
  if (machine.last_sound === null) return t('states.waiting.sound')
  if (needsBaseline(machine)) return t('states.waiting.baseline')
  return t('states.waiting.scores')
}

export const EVENT_STATE_NAMES: Readonly<Record<EventState, string>> = named('states.event', ['active', 'acknowledged', 'cleared'])

/** "Unacknowledged, active": whether someone has seen it, and whether it is over. */
export function eventSentence(event: Pick<MachineEvent, 'state' | 'ended'>): string {
  return listed([EVENT_STATE_NAMES[event.state], event.ended === null ? t('states.active') : t('states.over')])
}

export const KIND_NAMES: Readonly<Record<EventKind, string>> = named('states.kinds', ['anomaly', 'drift', 'signal'])

/** The kind of an event of a machine, as notifications call it: unusual sound or unusual vibration. */
export function kindName(kind: EventKind, machine: Pick<MachineStatus, 'sensor'> | undefined): string {
  return kind === 'anomaly' && measuresVibration(machine?.sensor) ? t('states.vibration.anomaly') : KIND_NAMES[kind]
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
