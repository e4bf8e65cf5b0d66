import { expect, test } from 'vitest'
import type { Thresholds } from '../src/api/types'
import { isLowerThanUsual, scoreText } from '../src/lib/scores'

function thresholds(usual: number, alert: number, alarm: number): Thresholds {
  const exits = { alert_exit: alert, alarm_exit: alarm }
  return { usual_score: usual, alert, alarm, ...exits, sentence: null, false_alerts_per_week: 1, provisional: false, message: '' }
}

test('a score below zero has a word where it is lower than usual', () => {
  const usual = thresholds(0.6, 5.7, 6.2)
  expect([-1.34, 0, 0.3, 7].map((value) => scoreText(value, usual))).toEqual(['-1.34, lower than usual', '0.00', '0.30', '7.00'])
  expect(scoreText(-1.34, null)).toBe('-1.34')
  expect(isLowerThanUsual(null, usual)).toBe(false)
})

test('a model whose scores are all below zero needs no word while it is not lower than usual', () => {
  const negative = thresholds(-5, -3, -2)
  expect([-4.8, -5.2].map((value) => isLowerThanUsual(value, negative))).toEqual([false, true])
})
