import type { MachineStatus } from '../api/types'
import { duration } from './time'

const LATE_SECONDS = 60

type WithSound = Pick<MachineStatus, 'state' | 'last_sound' | 'sensor'>

/** What arrives from its source: sound, or a measurement in a unit now and then. */
export function arriving({ sensor }: Pick<MachineStatus, 'sensor'>): string {
  return sensor?.at_intervals && sensor.unit ? 'measurement' : 'sound'
}

/**
 * "Last sound 6 min ago", if none arrived for a minute of the service's time; else empty. Folders and
 * pushed sources are never lost: nobody knows when their next sound is due. A lost source has a state.
 */
export function lastSound(machine: WithSound, now: number, speed: number): string {
  if (machine.state === 'lost' || machine.last_sound === null) return ''
  const ago = now - machine.last_sound
  return ago > LATE_SECONDS * Math.max(1, speed) ? `Last ${arriving(machine)} ${duration(ago)} ago` : ''
}
