/** What a machine is compared with, in words. */
import type { MachineStatus } from '../api/types'
import { t } from '../i18n'
import { date } from './time'

type Baseline = NonNullable<MachineStatus['baseline']>

/** "Baseline of 3 Nov 2026, 14:00, from 12 recordings"; a snapshot is a measurement, not a recording. */
export function baselineText({ learned_at, recordings }: Baseline, isOfSnapshots: boolean, zone: string): string {
  return t(isOfSnapshots ? 'baseline.ofMeasurements' : 'baseline.of', { date: date(learned_at, zone), count: recordings })
}

/** How far one can rely on the thresholds. */
export function commissioningText({ recordings, commissioned_at }: Baseline, zone: string): string {
  if (commissioned_at !== null) return t('baseline.commissioned', { date: date(commissioned_at, zone) })
  return t('baseline.notCommissioned', { count: recordings })
}

/** What an event is compared with; empty where that is unknown. */
export function comparedWith(learnedAt: number | null, zone: string): string {
  return learnedAt === null ? '' : t('baseline.compared', { date: date(learnedAt, zone) })
}

/** What the normal sample beside an event is of: its baseline, or one that was learned later. */
export function sampleText(learnedAt: number | null, current: Baseline | null, zone: string): string {
  if (learnedAt === null || !current || current.learned_at === learnedAt) return comparedWith(learnedAt, zone)
  return t('baseline.comparedWithOlder', { date: date(learnedAt, zone), newDate: date(current.learned_at, zone) })
}
