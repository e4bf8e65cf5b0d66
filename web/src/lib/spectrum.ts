/** A spectrum against the band of the normal sound, in a sentence. */
import type { BandTrend, EventSpectrogram, MachineState, Spectrum } from '../api/types'
import { band, hertz } from './numbers'

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

function rangeNames(all: Range[]): string {
  const names = all.slice(0, MOST_RANGES).map((range) => (range[0] === range[1] ? hertz(range[0]) : band(range).replace('–', ' to ')))
  return `${names.join(', ')}${all.length > MOST_RANGES ? ' and other frequencies' : ''}`
}

function hasValues(series: (number | null)[]): boolean {
  return series.some((value) => value !== null)
}

/** `at`: the operating point of the normal sound; `when`: what the spectrum is of, "Now". */
export function comparison(spectrum: Spectrum, state: MachineState, at: string, when: string): string {
  const { hz, now, low, high } = spectrum
  if (state === 'off') return 'Switched off: nothing to compare.'
  if (state === 'lost' || !hasValues(now)) return 'No sound at the moment.'
  if (!hasValues(low) || !hasValues(high)) return 'No normal band yet: learn a baseline first.'
  const louder = ranges(hz, (bin) => (now[bin] ?? -Infinity) > (high[bin] ?? Infinity) + MARGIN_DB)
  const quieter = ranges(hz, (bin) => (now[bin] ?? Infinity) < (low[bin] ?? -Infinity) - MARGIN_DB)
  const normal = `than normal${at} at`
  if (louder.length && quieter.length)
    return `${when} louder ${normal} ${rangeNames(louder)}; quieter at ${rangeNames(quieter)}.`
  if (louder.length) return `${when} louder ${normal} ${rangeNames(louder)}.`
  if (quieter.length) return `${when} quieter ${normal} ${rangeNames(quieter)}.`
  if (state === 'alert' || state === 'alarm')
    return 'All frequencies are within the normal band; what is unusual is how the sound changes over time: see the spectrogram of the event.'
  return `${when} within the normal band${at} at all frequencies.`
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
  const count = trend.levels.length
  return (trend.levels[0] ?? []).map((_, band) => trend.levels.reduce((sum, levels) => sum + (levels[band] ?? 0), 0) / count)
}
