/** Scores in words. */
import type { Thresholds } from '../api/types'
import { listed, t } from '../i18n'
import { score } from './numbers'

/** Whether a score is below zero because it is lower than usual, which needs a word: it is no fault. */
export function isLowerThanUsual(value: number | null, { usual_score }: Thresholds): boolean {
  return value !== null && value < 0 && value < usual_score
}

/** "-0.74, lower than usual" */
export function scoreText(value: number, thresholds: Thresholds | null): string {
  return listed([score(value), thresholds && isLowerThanUsual(value, thresholds) ? t('machine.gauge.lower') : ''])
}
