import type { MachineWeek, WeeklyReport } from '../api/types'
import { t } from '../i18n'
import { band, fixed, score } from './numbers'
import { day } from './time'

/** What got worse with a machine, in phrases. */
export function reasons(machine: MachineWeek, zone: string): string[] {
  const worse = machine.worse.map(({ code, before, now, low_hz, high_hz }) => {
    const text = (value: number) => (code === 'score' ? score(value) : fixed(value, 1))
    return t(`report.reasons.${code}`, {
      now: text(now),
      before: text(before),
      change: fixed(now - before),
      band: band([low_hz ?? 0, high_hz ?? 0]),
    })
  })
  const { outlook } = machine
  if (!outlook) return worse
  return [...worse, t('report.outlook', { earliest: day(outlook.earliest, zone), latest: day(outlook.latest, zone) })]
}

/** Whether there are machines that are listened to. */
export function hasStreams({ machines }: WeeklyReport): boolean {
  return machines.some((each) => each.listened_hours !== null)
}

/** Whether there are machines that are measured at intervals. */
export function hasSnapshots({ machines }: WeeklyReport): boolean {
  return machines.some((each) => each.measurements !== null)
}

export interface Totals {
  events: number
  alarms: number
  unacknowledged: number
  falseAlerts: number
  listened: number
  lost: number
  /** Of the time, of machines whose sound never pauses; null where there are none. */
  share: number | null
  measurements: number
}

/** Of all machines together. */
export function totals({ machines }: WeeklyReport): Totals {
  const sum = (value: (machine: MachineWeek) => number | null) => machines.reduce((total, each) => total + (value(each) ?? 0), 0)
  const lost = sum((each) => each.lost_hours)
  const constant = sum((each) => (each.lost_hours === null ? 0 : each.listened_hours))
  return {
    events: sum((each) => each.events),
    alarms: sum((each) => each.alarms),
    unacknowledged: sum((each) => each.unacknowledged),
    falseAlerts: sum((each) => each.false_alerts),
    listened: sum((each) => each.listened_hours),
    lost,
    share: constant + lost > 0 ? constant / (constant + lost) : null,
    measurements: sum((each) => each.measurements),
  }
}
