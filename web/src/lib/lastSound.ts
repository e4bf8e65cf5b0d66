import type { MachineStatus } from '../api/types'
import { t } from '../i18n'
import { duration } from './time'

const LATE_SECONDS = 60

type WithSound = Pick<MachineStatus, 'state' | 'last_sound' | 'sensor'>

/** Whether measurements in a unit arrive now and then, not sound. */
export function isMeasured({ sensor }: Pick<MachineStatus, 'sensor'>): boolean {
  return Boolean(sensor?.at_intervals && sensor.unit)
}

/**
 * "Last sound 6 min ago", if none arrived for a minute of the service's time; else empty. Folders and
 * pushed sources are never lost: nobody knows when their next sound is due. A lost source has a state.
 */
export function lastSound(machine: WithSound, now: number, speed: number): string {
  if (machine.state === 'lost' || machine.last_sound === null) return ''
  const ago = now - machine.last_sound
  if (ago <= LATE_SECONDS * Math.max(1, speed)) return ''
  const values = { duration: duration(ago) }
  return isMeasured(machine) ? t('states.lastMeasurement', values) : t('states.lastSound', values)
}
