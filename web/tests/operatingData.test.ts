import { expect, test } from 'vitest'
import { ageWarning, loadText, runText, speedAndLoad, speedText } from '../src/lib/operatingData'
import { pointName } from '../src/lib/operatingPoints'

const source = { kind: 'opcua', connected: true, message: '', sentence: null, max_age: 60 }
const data = { at: 1000, running: true, speed_rpm: 1480.4, load_percent: 61.2 }
const nothing = { at: 1000, running: null, speed_rpm: null, load_percent: null }

test('values have units, and unknown ones say so', () => {
  expect(speedText(1480.4)).toBe('1480 rpm')
  expect(speedText(12.34)).toBe('12.3 rpm')
  expect(speedText(null)).toBe('unknown')
  expect(loadText(61.2)).toBe('61 %')
  expect(speedAndLoad(data)).toBe('1480 rpm, 61 % load')
  expect(speedAndLoad(nothing)).toBe('')
})

test('a machine runs, stands, or nobody knows', () => {
  const text = (running: boolean | null) => runText({ operating_data: { ...data, running }, operating_data_source: source })
  expect([text(true), text(false), text(null)]).toEqual(['running', 'stopped', 'unknown'])
})

test('what is too old is said, and why', () => {
  expect(ageWarning({ operating_data: data, operating_data_source: source }, 1005)).toBe('')
  expect(ageWarning({ operating_data: null, operating_data_source: source }, 1005)).toMatch(/Nothing was reported yet/)
  expect(ageWarning({ operating_data: nothing, operating_data_source: source }, 1180)).toMatch(/is 3 min old; after 1 min .* unknown/)
  const lasting = { ...source, connected: false, sentence: null, max_age: null }
  expect(ageWarning({ operating_data: nothing, operating_data_source: lasting }, 1180)).toMatch(/^No connection/)
  expect(ageWarning({ operating_data: null, operating_data_source: null }, 1180)).toBe('')
})

test('an operating point without a name is called by its speed and load', () => {
  const point = { number: 2, name: '', share: 0.5, level_dbfs: -30, usual_score: 1, speed_rpm: 990, load_percent: null }
  expect(pointName(point, 3)).toBe('990 rpm')
  expect(pointName({ ...point, name: 'slow' }, 3)).toBe('slow')
  expect(pointName({ ...point, speed_rpm: null }, 3)).toBe('point 2 of 3')
})
