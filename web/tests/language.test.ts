// @vitest-environment jsdom
/** Texts, numbers and dates in the languages of the page. */
import i18next from 'i18next'
import { isValidElement, type ReactNode } from 'react'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Finding } from '../src/api/types'
import { t } from '../src/i18n'
import { chooseLanguage, language, preferredLanguage, showLanguage, startLanguage, type Language } from '../src/i18n/language'
import { rich } from '../src/i18n/rich'
import { recordingName } from '../src/lib/fileName'
import { findingText } from '../src/lib/findings'
import { band, figures, percent, rarity, score } from '../src/lib/numbers'
import { outlookText } from '../src/lib/outlook'
import { STATE_NAMES } from '../src/lib/states'
import { axisLabel, date, day, duration, fromInput, isoDay, moment, stamp, toInput } from '../src/lib/time'
import { weekOf } from '../src/lib/weeks'

beforeEach(() => localStorage.clear())
afterEach(() => showLanguage('en'))

/** Spaces within a date or number may be of another width. */
const plain = (text: string) => text.replace(/\s/g, ' ')
const TIME = Date.UTC(2026, 2, 29, 12, 3, 7) / 1000
const TONE: Finding = { code: 'tone', db: 30.2, hz: 2236, low_hz: null, high_hz: null, per_second: null, new: true, lines: [] }

test.each<[Language, string[]]>([
  ['en', ['2026-03-29 14:03:07', '2026-03-29', '2026-03-29 14:03', '29 Mar 2026, 14:03', '03-29', '2026-03']],
  ['de', ['29.03.2026, 14:03:07', '29.03.2026', '29.03.2026, 14:03', '29. März 2026, 14:03', '29.03.', '03/2026']],
  ['es', ['29/03/2026, 14:03:07', '29/03/2026', '29/03/2026, 14:03', '29 mar 2026, 14:03', '29/3', '3/2026']],
  ['ja', ['2026/03/29 14:03:07', '2026/03/29', '2026/03/29 14:03', '2026年3月29日 14:03', '03/29', '2026/03']],
])('dates in %s', async (name, texts) => {
  await showLanguage(name)
  const zone = 'Europe/Berlin'
  expect(
    [
      stamp(TIME, zone),
      day(TIME, zone),
      moment(TIME, TIME + 86_400, zone),
      date(TIME, zone),
      axisLabel(TIME, 7 * 86_400, zone),
      axisLabel(TIME, 30 * 86_400, zone),
    ].map(plain),
  ).toEqual(texts)
  expect(moment(TIME, TIME, zone)).toBe('14:03:07')
  // What a date field holds is the same in all languages.
  expect(toInput(TIME, zone)).toBe('2026-03-29T14:03')
  expect(fromInput('2026-03-29T14:03', zone)).toBe(TIME - 7)
})

test.each<Language>(['en', 'de', 'es', 'ja'])('names of files and weeks are the same in %s', async (name) => {
  await showLanguage(name)
  expect(recordingName('fan-1', 1_790_000_000, 'Europe/Berlin', 'flac')).toBe('fan-1_2026-09-21_16-13-20.flac')
  expect(weekOf(isoDay(1_790_000_000, 'Europe/Berlin'))).toBe('2026-W39')
})

test.each<[Language, string[]]>([
  ['en', ['1.23', '0.42', '2.2–3 kHz', '60 %', '1 of 10,000 normal clips scores as high', '3 h 20 min']],
  ['de', ['1,23', '0,42', '2,2–3 kHz', '60 %', '1 von 10.000 normalen Ausschnitten hat einen so hohen Wert', '3 h 20 min']],
  ['es', ['1,23', '0,42', '2,2–3 kHz', '60 %', '1 de 10.000 fragmentos normales tiene un índice tan alto', '3 h 20 min']],
  ['ja', ['1.23', '0.42', '2.2–3 kHz', '60%', 'これほど高い異常度は正常区間 10,000 個に 1 個', '3 時間 20 分']],
])('numbers in %s', async (name, texts) => {
  await showLanguage(name)
  const shown = [score(1.234), figures(0.42), band([2240, 2980]), percent(0.6), rarity(1e-4), duration(12_000)]
  expect(shown.map(plain)).toEqual(texts)
})

test.each<[Language, string[]]>([
  ['en', ['Alert', 'new tone at 2.24 kHz, 30 dB above normal', 'Reaches alarm in 3 to 9 days']],
  ['de', ['Warnung', 'neuer Ton bei 2,24 kHz, 30 dB über normal', 'Erreicht Alarm in 3 bis 9 Tagen']],
  ['es', ['Alerta', 'nuevo tono a 2,24 kHz, 30 dB por encima de lo normal', 'Llega a alarma en 3 a 9 días']],
  ['ja', ['警告', '2.24 kHz に新しい純音、正常より 30 dB 高い', '3～9 日後に警報に達する見込み']],
])('states, findings and outlooks in %s', async (name, texts) => {
  await showLanguage(name)
  const outlook = { earliest: TIME + 3.4 * 86_400, latest: TIME + 8.6 * 86_400 }
  expect([STATE_NAMES.alert, findingText(TONE), outlookText(outlook, TIME)]).toEqual(texts)
})

test('the language of the browser, until another one is chosen', async () => {
  expect(preferredLanguage(['fr-CH', 'de-AT', 'en'])).toBe('de')
  expect(preferredLanguage(['zh-CN'])).toBe('en')
  await chooseLanguage('ja')
  await showLanguage('en')
  await startLanguage()
  expect([language(), document.documentElement.lang]).toEqual(['ja', 'ja'])
  localStorage.setItem('ssdpt-language', 'of another program')
  await startLanguage()
  expect(language()).toBe('en') // that of the test environment
})

test('a text that a language lacks is shown in English', async () => {
  i18next.addResource('en', 'translation', 'test.only', 'only English')
  await showLanguage('de')
  expect(t('test.only')).toBe('only English')
  expect(t('common.cancel')).toBe('Abbrechen')
})

test('elements are those of the text, never of a value', () => {
  i18next.addResource('en', 'translation', 'test.rich', 'Accept <strong>{{what}}</strong> of <a>{{who}}</a>.')
  const seen: string[] = []
  const mark = (name: string) => (text: string): ReactNode => {
    seen.push(`${name}: ${text}`)
    return text
  }
  const nodes = rich('test.rich', { strong: mark('strong'), a: mark('a') }, { what: '<a>3</a>', who: '{{what}}' }) as ReactNode[]
  expect(seen).toEqual(['strong: <a>3</a>', 'a: {{what}}'])
  expect(nodes.filter((node) => !isValidElement(node))).toEqual(['Accept ', ' of ', '.'])
})
