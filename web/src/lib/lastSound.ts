import type { Machine } from '../api/types'
import { duration } from './time'

const QUIET_SECONDS = 60

type Heard = Pick<Machine, 'state' | 'last_sound'>

/**
 * "Last sound 6 min ago", where none came for a minute of the service's time; else nothing. Folders
 * and senders are never lost: nobody knows when their next sound is due. One that is lost says so.
 */
export function lastSound(machine: Heard, now: number, speed: number): string {
  if (machine.state === 'lost' || machine.last_sound === null) return ''
  const ago = now - machine.last_sound
  return ago > QUIET_SECONDS * Math.max(1, speed) ? `Last sound ${duration(ago)} ago` : ''
}
