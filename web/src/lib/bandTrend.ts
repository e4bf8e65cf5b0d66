/** Levels of frequency bands over time, and which band to look at first. */
import type { Band, BandTrend, MachineStatus, Reading } from '../api/types'
import { listed, t } from '../i18n'
import { band as range, decibels } from './numbers'

/** A band trend with newer readings at its end, and without points from before `begin`. */
export function bandsWithReadings(trend: BandTrend, readings: readonly Reading[], begin: number): BandTrend {
  const step = trend.seconds_per_point
  const first = trend.time.findIndex((time) => time + step > begin)
  const from = first < 0 ? trend.time.length : first
  const [time, level_dbfs, levels] = [trend.time.slice(from), trend.level_dbfs.slice(from), trend.levels.slice(from)]
  for (const { time: at, level_dbfs: level, bands_db } of readings) {
    const bucket = Math.floor(at / step) * step
    const last = time.length - 1
    if (bucket < (time[last] ?? -Infinity)) continue
    if (bucket !== time[last]) {
      time.push(bucket)
      level_dbfs.push(level)
      levels.push(bands_db)
    } else {
      // A reading per second: this is about the n-th of the point.
      const count = Math.max(2, at - bucket + 1)
      const levelBefore = level_dbfs[last] ?? level
      level_dbfs[last] = level === null || levelBefore === null ? levelBefore : levelBefore + (level - levelBefore) / count
      const before = levels[last] ?? []
      if (bands_db.length) levels[last] = bands_db.map((level, band) => (before[band] ?? level) + (level - (before[band] ?? level)) / count)
    }
  }
  return { ...trend, time, level_dbfs, levels }
}

/** The bands of a machine with the levels of a reading. */
export function withLevels(bands: MachineStatus['bands'], levels: readonly number[]): MachineStatus['bands'] {
  return levels.length === bands.length ? bands.map((band, index) => ({ ...band, now_db: levels[index] ?? null })) : bands
}

/** How far it is on the way from its usual level to its alarm level. */
function change({ now_db, usual_db, alarm_db }: Band): number {
  return now_db === null ? -Infinity : (now_db - usual_db) / Math.max(alarm_db - usual_db, 1e-6)
}

/** The number of the band that has changed most. */
export function mostChanged(bands: readonly Band[]): number {
  return bands.reduce((best, band, index) => (change(band) > change(bands[best] ?? band) ? index : best), 0)
}

export function bandName({ low_hz, high_hz }: Band): string {
  return range([low_hz, high_hz])
}

function againstUsual(difference: number): string {
  const values = { decibels: decibels(Math.abs(difference)) }
  if (values.decibels === decibels(0)) return t('trend.bands.asUsual')
  return difference < 0 ? t('trend.bands.below', values) : t('trend.bands.above', values)
}

/** "7 dB above usual, alert"; empty where there is no level. */
export function bandText({ now_db, usual_db, alert_db, alarm_db }: Band): string {
  if (now_db === null) return ''
  const state = now_db >= alarm_db ? t('trend.bands.alarm') : now_db >= alert_db ? t('trend.bands.alert') : ''
  return listed([againstUsual(now_db - usual_db), state])
}
