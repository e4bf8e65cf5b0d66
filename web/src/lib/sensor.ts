/** What a machine is measured with: a microphone, or a sensor with a unit. */
import type { Sensor } from '../api/types'
import { t } from '../i18n'
import { figures, fixed, rounded } from './numbers'

export const UNITS: readonly Sensor['unit'][] = ['', 'g', 'm/s²', 'mm/s', 'Pa']

/** What a sample of 1 means where nothing else is said. */
export const USUAL_FULL_SCALE: Record<Sensor['unit'], number> = { '': 1, g: 50, 'm/s²': 500, 'mm/s': 100, Pa: 20 }

/** A level in the unit of the sensor, "0.42 g RMS", or against full scale, "−31 dBFS". */
export function levelText(dbfs: number | null, sensor: Sensor | null): string {
  if (dbfs === null || !Number.isFinite(dbfs)) return '–'
  if (!sensor?.unit) return `${fixed(dbfs, 0)} dBFS`
  // Against a sine of full scale, whose root mean square is its peak over √2.
  const rms = (sensor.full_scale * 10 ** (dbfs / 20)) / Math.SQRT2
  return t('sensor.rms', { value: figures(rms, 2), unit: sensor.unit })
}

/** "Accelerometer" would be a guess: the unit says what is measured. */
export function quantity({ unit, full_scale }: Sensor): string {
  if (!unit) return t('sensor.notCalibrated')
  const values = { unit, fullScale: figures(full_scale) }
  return measuresVibration({ unit }) ? t('sensor.vibration', values) : t('sensor.soundPressure', values)
}

/** Whether a machine is felt rather than heard: its events are of vibration. */
export function measuresVibration(sensor: Pick<Sensor, 'unit'> | null | undefined): boolean {
  return Boolean(sensor?.unit) && sensor?.unit !== 'Pa'
}

export function axesText(axes: readonly string[]): string {
  return axes.length ? axes.join(t('common.comma')) : t('sensor.oneAxis')
}

export function sampleRate(hz: number): string {
  return hz < 1000 ? `${hz} Hz` : `${rounded(hz / 1000, 3)} kHz`
}

/** Hz at which a browser decodes its recordings: their own, as far as browsers can, so that no band is lost. */
export function decodingRate(sensor: Pick<Sensor, 'sample_rate'> | null): number {
  return Math.min(96_000, Math.max(8000, sensor?.sample_rate || 16_000))
}

/** What was entered about a sensor when a machine is added. */
export interface SensorDraft {
  unit: Sensor['unit']
  fullScale: string
  sampleRate: string
  axes: string
  snapshots: boolean
}

export const MICROPHONE: SensorDraft = { unit: '', fullScale: '', sampleRate: '', axes: '', snapshots: false }

/** As the service wants it; what was left empty keeps its default there. */
export function sensorSettings(draft: SensorDraft, onlySnapshots: boolean): Record<string, unknown> {
  const { unit, fullScale, sampleRate, axes } = draft
  const snapshots = onlySnapshots || draft.snapshots
  const names = axes.split(/[\s,;]+/).filter(Boolean)
  return {
    ...(unit && { unit }),
    ...(unit && fullScale && { full_scale: Number(fullScale) }),
    ...(sampleRate && { sample_rate: Number(sampleRate) }),
    ...(names.length && { axes: names }),
    ...(snapshots && { snapshots }),
  }
}
