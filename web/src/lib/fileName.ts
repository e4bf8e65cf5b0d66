import { isoClock, isoDay } from './time'

/** fan-1_2026-03-29_14-03-07.flac: the machine, and when it was recorded by the clock of the site. */
export function recordingName(machine: string, time: number, zone: string, suffix: string): string {
  return `${machine}_${isoDay(time, zone)}_${isoClock(time, zone)}.${suffix}`
}
