import type { Severity } from '../api/types'
import { figures, percent } from './numbers'

/** "Clear" alone would sound like "all clear". */
export const GRADE_NAMES: Record<Severity['grade'], string> = {
  slight: 'Slight change',
  clear: 'Clear change',
  severe: 'Severe change',
  extreme: 'Extreme change',
}

const ORDER = ['', 'worst', 'second worst', 'third worst']

function place({ rank, siblings }: Severity): string {
  if (rank === null || siblings < 2) return ''
  return `${ORDER[rank] ?? `number ${rank}`} of ${siblings} machines like it`
}

function distance(ratio: number): string {
  return ratio < 1 ? `${percent(ratio)} of the way to alarm` : `${figures(ratio, 2)} times the way to alarm`
}

/** "1.8 times the way to alarm; higher than on 97 % of its days; worst of 5 machines like it" */
export function severityText(severity: Severity): string {
  const { ratio, above_history } = severity
  const history = above_history === null ? '' : `higher than on ${percent(above_history)} of its days`
  return [distance(Math.max(0, ratio)), history, place(severity)].filter(Boolean).join('; ')
}
