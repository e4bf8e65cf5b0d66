import { expect, test } from 'vitest'
import type { Band, BandTrend, Reading, Sensor } from '../src/api/types'
import { bandsWithReadings, bandText, mostChanged, withLevels } from '../src/lib/bandTrend'
import { axesText, decodingRate, levelText, MICROPHONE, quantity, sampleRate, sensorSettings } from '../src/lib/sensor'
import { SOURCES, sourceSettings } from '../src/lib/sources'

const SENSOR: Sensor = { unit: 'g', full_scale: 50, sample_rate: 25_600, axes: ['x', 'y'], at_intervals: true }

test('levels are in the unit of the sensor, where it has one', () => {
  // A sine of full scale has 0 dBFS, and 1/√2 of its peak as root mean square.
  expect(levelText(0, SENSOR)).toBe('35 g RMS')
  expect(levelText(-38.5, SENSOR)).toBe('0.42 g RMS')
  expect(levelText(-300, SENSOR)).toBe('0 g RMS')
  expect(levelText(-31.2, { ...SENSOR, unit: '' })).toBe('-31 dBFS')
  expect(levelText(-31.2, null)).toBe('-31 dBFS')
  expect(levelText(null, SENSOR)).toBe('–')
})

test('a sensor in words', () => {
  expect(quantity(SENSOR)).toBe('vibration in g, full scale 50 g')
  expect(quantity({ ...SENSOR, unit: 'Pa', full_scale: 20 })).toBe('sound pressure in Pa, full scale 20 Pa')
  expect(quantity({ ...SENSOR, unit: '' })).toBe('not calibrated')
  expect([SENSOR.axes, []].map(axesText)).toEqual(['x, y', 'one'])
  expect([25_600, 16_000, 800].map(sampleRate)).toEqual(['25.6 kHz', '16 kHz', '800 Hz'])
})

test('what is left empty is not sent', () => {
  expect(sensorSettings(MICROPHONE, false)).toEqual({})
  expect(sensorSettings({ ...MICROPHONE, fullScale: '3' }, true)).toEqual({ snapshots: true })
  expect(sensorSettings({ unit: 'mm/s', fullScale: '25.4', sampleRate: '4096', axes: 'x, y;z', snapshots: true }, false)).toEqual({
    unit: 'mm/s',
    full_scale: 25.4,
    sample_rate: 4096,
    axes: ['x', 'y', 'z'],
    snapshots: true,
  })
  const fields = SOURCES.find(({ kind }) => kind === 'mqtt')?.fields ?? []
  const entered = { host: ' broker ', port: '8883', topic: 'a/b', tls: 'true', url: 'of another kind' }
  expect(sourceSettings(fields, entered)).toEqual({ host: 'broker', port: 8883, topic: 'a/b', tls: true })
  expect(sourceSettings(fields, { host: 'broker', tls: '' })).toEqual({ host: 'broker' })
})

const band = (now_db: number | null): Band => ({ low_hz: 30, high_hz: 60, now_db, usual_db: -50, alert_db: -44, alarm_db: -40 })

test('a band against its usual level', () => {
  expect([-50.2, -47, -43, -39, -56].map((level) => bandText(band(level)))).toEqual([
    'as usual',
    '3 dB above usual',
    '7 dB above usual, alert',
    '11 dB above usual, alarm',
    '6 dB below usual',
  ])
  expect(bandText(band(null))).toBe('')
})

test('the band that has changed most comes first', () => {
  expect(mostChanged([band(-50), band(null), band(-42), band(-47)])).toBe(2)
  expect(mostChanged([band(null), band(null)])).toBe(0)
})

const reading = (time: number, ...bands_db: number[]) => ({ time, level_dbfs: -20, bands_db }) as Reading

test('readings become points of the band trend, or part of its last one', () => {
  const trend: BandTrend = { seconds_per_point: 60, edges_hz: [1, 2, 3], time: [0, 60], level_dbfs: [-30, -30], levels: [[-50, -50], [-50, null]] }
  const longer = bandsWithReadings(trend, [reading(61, -40, -60), reading(130, -42, -43), reading(131)], 30)
  expect(longer.time).toEqual([0, 60, 120])
  expect(longer.levels).toEqual([[-50, -50], [-45, -60], [-42, -43]])
  expect(longer.level_dbfs).toEqual([-30, -25, -20])
  expect(bandsWithReadings(trend, [reading(20, 0, 0)], 70).levels).toEqual([[-50, null]])
})

test('readings update the levels of the bands, if they are those of the machine', () => {
  expect(withLevels([band(-50)], [-41]).map(({ now_db }) => now_db)).toEqual([-41])
  expect(withLevels([band(-50)], [-41, -42]).map(({ now_db }) => now_db)).toEqual([-50])
})

test('recordings are decoded at their own rate, as far as browsers can', () => {
  expect(decodingRate(SENSOR)).toBe(25_600)
  expect(decodingRate({ ...SENSOR, sample_rate: 2000 })).toBe(8000)
  expect(decodingRate({ ...SENSOR, sample_rate: 0 })).toBe(16_000)
  expect(decodingRate(null)).toBe(16_000)
})
