// @vitest-environment jsdom
/** What the service says, in the languages of the page. */
import { afterEach, expect, test } from 'vitest'
import type { CodedSentence } from '../src/api/types'
import { showLanguage, type Language } from '../src/i18n/language'
import { allTranslated, said, translated } from '../src/lib/sentences'

afterEach(() => showLanguage('en'))

const NO_DATA: CodedSentence = { code: 'sources.noData', values: { name: 'rtsp://camera', seconds: 12.5 } }
const ENGLISH = 'rtsp://camera: no data for 12.5 s'
const RETRYING: CodedSentence = { code: 'sources.retrying', values: { problem: NO_DATA, seconds: 3 } }

test.each<[Language, string]>([
  ['en', ENGLISH],
  ['de', 'rtsp://camera: seit 12,5 s keine Daten'],
  ['es', 'rtsp://camera: sin datos desde hace 12,5 s'],
  ['ja', 'rtsp://camera：12.5 秒間データがありません'],
])('a sentence with its numbers in %s', async (language, text) => {
  await showLanguage(language)
  expect(said({ message: ENGLISH, sentence: NO_DATA })).toBe(text)
})

test('sentences within sentences, lists and plurals', async () => {
  await showLanguage('de')
  expect(translated('', RETRYING)).toBe('rtsp://camera: seit 12,5 s keine Daten; neuer Versuch in 3 s')
  const skipped: CodedSentence = { code: 'sources.skipped', values: { count: 1200, last: 'a.wav' } }
  expect(translated('', { code: 'common.clauses', values: { clauses: [NO_DATA, skipped] } })).toBe(
    'rtsp://camera: seit 12,5 s keine Daten; 1.200 übersprungen, zuletzt: a.wav',
  )
  expect(translated('', { code: 'sources.subscribed', values: { name: 'mqtt', topics: ['a', 'b'] } })).toBe('mqtt: abonniert a, b')
  const alerts = (count: number): CodedSentence => ({ code: 'thresholds.alerts', values: { count } })
  expect([1, 2, 0.5].map((count) => translated('', alerts(count)))).toEqual([
    '1 Fehlwarnung pro Woche',
    '2 Fehlwarnungen pro Woche',
    '0,5 Fehlwarnungen pro Woche',
  ])
})

test('what has no translation is shown as it was sent', async () => {
  await showLanguage('de')
  expect(translated('of a plug-in', null)).toBe('of a plug-in')
  expect(translated('from tomorrow', { code: 'sources.ofTomorrow', values: {} })).toBe('from tomorrow')
  const unknownWithin: CodedSentence = { code: 'sources.retrying', values: { problem: { code: 'no.such', values: {} }, seconds: 3 } }
  expect(translated('whole in English', unknownWithin)).toBe('whole in English')
  expect(allTranslated(['a', ENGLISH], [null, NO_DATA])).toEqual(['a', 'rtsp://camera: seit 12,5 s keine Daten'])
})
