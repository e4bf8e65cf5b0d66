import type { Severity } from '../api/types'
import { clauses, named, t } from '../i18n'
import { figures, percent } from './numbers'

/** "Clear" alone would sound like "all clear". */
export const GRADE_NAMES: Readonly<Record<Severity['grade'], string>> = named('condition.grades', ['slight', 'clear', 'severe', 'extreme'])

function place({ rank, siblings }: Severity): string {
  if (rank === null || siblings < 2) return ''
  if (rank === 1) return t('condition.worst', { siblings })
  if (rank === 2) return t('condition.secondWorst', { siblings })
  if (rank === 3) return t('condition.thirdWorst', { siblings })
  return t('condition.rank', { rank, siblings })
}

function distance(ratio: number): string {
  return ratio < 1 ? t('condition.toAlarm', { percent: percent(ratio) }) : t('condition.timesToAlarm', { times: figures(ratio, 2) })
}

/** "1.8 times the way to alarm; higher than on 97 % of its days; worst of 5 machines like it" */
export function severityText(severity: Severity): string {
  const { ratio, above_history } = severity
  const history = above_history === null ? '' : t('condition.history', { percent: percent(above_history) })
  return clauses([distance(Math.max(0, ratio)), history, place(severity)])
}
