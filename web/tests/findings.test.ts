import { expect, test } from 'vitest'
import type { Finding } from '../src/api/types'
import { eventText, findingsText, findingText } from '../src/lib/findings'

function finding(code: Finding['code'], numbers: Partial<Finding> = {}): Finding {
  return { code, db: null, hz: null, low_hz: null, high_hz: null, per_second: null, new: false, lines: [], ...numbers }
}

const TONE = finding('tone', { hz: 130, db: 30.2, new: true })
const KNOCKS = finding('knocks', { per_second: 24.84, low_hz: 2240, high_hz: 4480, new: true })

test('every code has its words and numbers', () => {
  expect(findingText(TONE)).toBe('new tone at 130 Hz, 30 dB above normal')
  expect(findingText({ ...TONE, hz: 2236, new: false })).toBe('stronger tone at 2.24 kHz, 30 dB above normal')
  expect(findingText(finding('level', { db: 6 }))).toBe('6 dB louder than normal')
  expect(findingText(finding('level', { db: -4.4 }))).toBe('4 dB quieter than normal')
  expect(findingText(finding('band', { low_hz: 150, high_hz: 800, db: -9 }))).toBe('150 to 800 Hz, 9 dB below normal')
  expect(findingText(KNOCKS)).toBe('new knocks, 24.8 per second, from 2.2 to 4.5 kHz')
  expect(findingText({ ...KNOCKS, db: 8.5 })).toBe('new knocks, 24.8 per second, from 2.2 to 4.5 kHz, 9 dB above normal')
  expect(findingText(finding('modulation', { per_second: 6, db: 3 }))).toBe('strength rises and falls 6 times per second, 3 dB above normal')
  expect(findingText(finding('modulation', { per_second: 6 }))).toBe('strength rises and falls 6 times per second')
})

test('numbers that are not there are left out', () => {
  expect(findingText(finding('tone', { hz: 50 }))).toBe('stronger tone at 50 Hz')
  expect(findingText(finding('knocks'))).toBe('stronger knocks')
  expect(findingText(finding('modulation'))).toBe('strength rises and falls')
})

test('several in one sentence', () => {
  expect(findingsText([TONE, finding('level', { db: 6 })])).toBe('New tone at 130 Hz, 30 dB above normal; 6 dB louder than normal')
  expect(findingsText([])).toBe('')
})

test('an event in a line: its first finding, or the message of the service', () => {
  const message = 'Fan 1: no sound arrives'
  expect(eventText({ sentence: null, message, findings: [] })).toBe(message)
  expect(eventText({ sentence: null, message, findings: [TONE] })).toBe('New tone at 130 Hz, 30 dB above normal')
  expect(eventText({ sentence: null, message, findings: [TONE, KNOCKS, KNOCKS] })).toBe('New tone at 130 Hz, 30 dB above normal (and 2 more)')
})
