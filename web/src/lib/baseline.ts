/** What a machine is compared with, in words. */
import type { MachineStatus } from '../api/types'
import { plural } from './numbers'
import { date } from './time'

type Baseline = NonNullable<MachineStatus['baseline']>

/** "Baseline of 3 Nov 2026, 14:00, from 12 recordings" */
export function baselineText({ learned_at, recordings }: Baseline, zone: string): string {
  return `Baseline of ${date(learned_at, zone)}, from ${plural(recordings, 'recording')}`
}

/** How far one can rely on the thresholds. */
export function commissioningText({ recordings, commissioned_at }: Baseline, zone: string): string {
  if (commissioned_at !== null) return `Commissioned on ${date(commissioned_at, zone)}: checked on sound of another time.`
  return `From ${plural(recordings, 'recording')}, not commissioned yet: not checked on sound of another time.`
}

/** What an event is compared with; empty where that is unknown. */
export function comparedWith(learnedAt: number | null, zone: string): string {
  return learnedAt === null ? '' : `Compared with the baseline of ${date(learnedAt, zone)}.`
}

/** What the normal sample beside an event is of: its baseline, or one that was learned later. */
export function sampleText(learnedAt: number | null, current: Baseline | null, zone: string): string {
  const compared = comparedWith(learnedAt, zone)
  if (!compared || !current || current.learned_at === learnedAt) return compared
  return `${compared} The sample is of the baseline of ${date(current.learned_at, zone)}, which was learned since.`
}
