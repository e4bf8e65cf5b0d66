import { expect, test } from 'vitest'
import type { Severity } from '../src/api/types'
import { baselineText, commissioningText, comparedWith, sampleText } from '../src/lib/baseline'
import { episodesText } from '../src/lib/episodes'
import { outlookText } from '../src/lib/outlook'
import { severityText } from '../src/lib/severity'

const DAY = 86_400
const LEARNED = Date.UTC(2026, 10, 3, 14) / 1000

test('severity against the threshold, the own history and machines like it', () => {
  const severe: Severity = { grade: 'severe', ratio: 1.8, above_history: 0.97, rank: 1, siblings: 5 }
  expect(severityText(severe)).toBe('1.8 times the way to alarm; higher than on 97 % of its days; worst of 5 machines like it')
  expect(severityText({ ...severe, rank: 2, ratio: 0.62 })).toContain('62 % of the way to alarm; higher than on 97 % of its days; second worst of 5')
  expect(severityText({ ...severe, rank: 4 })).toContain('number 4 of 5 machines like it')
  expect(severityText({ ...severe, above_history: null, rank: null, siblings: 0 })).toBe('1.8 times the way to alarm')
  expect(severityText({ ...severe, ratio: -0.1, above_history: null, siblings: 1 })).toBe('0 % of the way to alarm')
})

test('the outlook in a unit that people would use, rounded to the safe side', () => {
  const reaches = (earliest: number, latest: number) => outlookText({ earliest: 1e9 + earliest, latest: 1e9 + latest }, 1e9)
  expect(reaches(3.4 * DAY, 8.6 * DAY)).toBe('Reaches alarm in 3 to 9 days')
  expect(reaches(600, 3000)).toBe('Reaches alarm in 10 to 50 minutes')
  expect(reaches(5 * 3600, 30 * 3600)).toBe('Reaches alarm in 5 to 30 hours')
  expect(reaches(20 * DAY, 70 * DAY)).toBe('Reaches alarm in 2 to 10 weeks')
  expect(reaches(65 * DAY, 200 * DAY)).toBe('Reaches alarm in 2 to 7 months')
  expect(reaches(-DAY, 20)).toBe('Reaches alarm within 1 minute')
  expect(reaches(0.5 * DAY, 9 * DAY)).toBe('Reaches alarm within 9 days')
})

test('without an outlook, or when its time is over, nothing is said', () => {
  expect(outlookText(null, 5)).toBe('')
  expect(outlookText({ earliest: 1, latest: 4 }, 5)).toBe('')
})

test('episodes are counted and their time added up', () => {
  const episode = (began: number, ended: number | null) => ({ began, ended, level: 'alert' as const, peak: null })
  expect(episodesText([episode(0, 60), episode(100, 110), episode(200, null)], 260)).toBe('came 3 times, 2 min 10 s in all')
  expect(episodesText([episode(0, 60)], 260)).toBe('')
  expect(episodesText([], 260)).toBe('')
})

test('the baseline has its date in the time zone of the service', () => {
  const baseline = { learned_at: LEARNED, recordings: 12, commissioned_at: null }
  expect(baselineText(baseline, false, 'UTC')).toBe('Baseline of 3 Nov 2026, 14:00, from 12 recordings')
  expect(baselineText({ ...baseline, recordings: 1 }, false, 'Europe/Berlin')).toBe('Baseline of 3 Nov 2026, 15:00, from 1 recording')
  expect(baselineText(baseline, true, 'UTC')).toBe('Baseline of 3 Nov 2026, 14:00, from 12 measurements')
  expect(commissioningText(baseline, 'UTC')).toContain('not commissioned yet')
  expect(commissioningText({ ...baseline, commissioned_at: LEARNED + DAY }, 'UTC')).toContain('Commissioned on 4 Nov 2026, 14:00')
})

test('an event says what it is compared with, and whether that is what can be heard', () => {
  const compared = 'Compared with the baseline of 3 Nov 2026, 14:00.'
  const baseline = { learned_at: LEARNED, recordings: 12, commissioned_at: null }
  expect(comparedWith(null, 'UTC')).toBe('')
  expect(sampleText(null, baseline, 'UTC')).toBe('')
  expect(sampleText(LEARNED, baseline, 'UTC')).toBe(compared)
  expect(sampleText(LEARNED, null, 'UTC')).toBe(compared)
  expect(sampleText(LEARNED, { ...baseline, learned_at: LEARNED + DAY }, 'UTC')).toBe(
    `${compared} The sample is of the baseline of 4 Nov 2026, 14:00, which was learned since.`,
  )
})
