/** A spectrum against the band of the normal sound, in a sentence. */
import type { BandTrend, EventSpectrogram, MachineState, Spectrum } from '../api/types'
import { listed, t } from '../i18n'
import { bandEnds, hertz } from './numbers'
import { date } from './time'

/** Bins further out than this are named; by chance a normal sound leaves the band a little. */
const MARGIN_DB = 1
const MOST_RANGES = 3

type Range = [number, number]

/** Frequencies at which `isOutside` holds, neighbouring bins joined. */
function ranges(hz: number[], isOutside: (bin: number) => boolean): Range[] {
  const joined: Range[] = []
  let previous = -2
  hz.forEach((at, bin) => {
    if (!isOutside(bin)) return
    const last = joined.at(-1)
    if (last && bin === previous + 1) last[1] = at
    else joined.push([at, at])
    previous = bin
  })
  return joined
}

function rangeName(range: Range): string {
  if (range[0] === range[1]) return hertz(range[0])
  const [low, high] = bandEnds(range)
  return t('spectrum.range', { low, high })
}

function rangeNames(all: Range[]): string {
  const ranges = listed(all.slice(0, MOST_RANGES).map(rangeName))
  return all.length > MOST_RANGES ? t('spectrum.andOthers', { ranges }) : ranges
}

function hasValues(series: (number | null)[]): boolean {
  return series.some((value) => value !== null)
}

/** What the spectrum is of. */
export type When = 'now' | 'lastSound' | 'lastMeasurement' | 'event'

/** The normal sound, at its operating point where there are several. */
export function normalSound(point: string): string {
  return point ? t('spectrum.normalAt', { point }) : t('spectrum.normal')
}

/** What the band of normal spectra shows. */
export function normalBand(point: string, learnedAt: number | null, zone: string): string {
  const normal = normalSound(point)
  return learnedAt === null ? normal : t('spectrum.normalOf', { normal, date: date(learnedAt, zone) })
}

/** `point`: the operating point of the normal sound, where there are several. */
export function comparison(spectrum: Spectrum, state: MachineState, point: string, of: When): string {
  const { hz, now, low, high } = spectrum
  if (state === 'off') return t('spectrum.off')
  if (state === 'lost' || !hasValues(now)) return t('spectrum.nothing')
  if (!hasValues(low) || !hasValues(high)) return t('spectrum.noBand')
  const louder = ranges(hz, (bin) => (now[bin] ?? -Infinity) > (high[bin] ?? Infinity) + MARGIN_DB)
  const quieter = ranges(hz, (bin) => (now[bin] ?? Infinity) < (low[bin] ?? -Infinity) - MARGIN_DB)
  const when = t(`spectrum.when.${of}`)
  const values = { when, normal: normalSound(point), louder: rangeNames(louder), quieter: rangeNames(quieter) }
  if (louder.length && quieter.length) return t('spectrum.louderAndQuieter', values)
  if (louder.length) return t('spectrum.louder', values)
  if (quieter.length) return t('spectrum.quieter', values)
  if (state === 'alert' || state === 'alarm') return t('spectrum.changesOverTime')
  return point ? t('spectrum.withinAt', { when, point }) : t('spectrum.within', { when })
}

/** Mean level of each bin in dB while the event lasts; empty where the recording has nothing of it. */
export function eventLevels(spectrogram: EventSpectrogram, began: number, ended: number | null): number[] {
  const { begin, seconds_per_column, columns, low_db, high_db, hz } = spectrogram
  const during = columns.filter((_, index) => {
    const time = begin + index * seconds_per_column
    return time >= began && (ended === null || time < ended)
  })
  if (!during.length) return []
  return hz.map((_, bin) => {
    const sum = during.reduce((total, column) => total + (column[bin] ?? 0), 0)
    return low_db + (sum / during.length / 255) * (high_db - low_db)
  })
}

/** Mean level of each band in dB over a time; empty where nothing was measured. */
export function bandLevels(trend: BandTrend): number[] {
  const measured = trend.levels.filter((levels) => levels.some((level) => level !== null))
  return (measured[0] ?? []).map((_, band) => measured.reduce((sum, levels) => sum + (levels[band] ?? 0), 0) / measured.length)
}
