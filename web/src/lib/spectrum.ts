/** The spectrum of now against the band of the normal sound, in words. */
import type { MachineState, Spectrum } from '../api/types'
import { band, hertz } from './numbers'

/** Bins further out than this are told; the band itself is left now and then by chance. */
const MARGIN_DB = 1
const MOST = 3

type Range = [number, number]

/** Frequencies at which `isOut` holds, neighbouring bins put together. */
function ranges(hz: number[], isOut: (bin: number) => boolean): Range[] {
  const found: Range[] = []
  let before = -2
  hz.forEach((at, bin) => {
    if (!isOut(bin)) return
    const last = found.at(-1)
    if (last && bin === before + 1) last[1] = at
    else found.push([at, at])
    before = bin
  })
  return found
}

function named(found: Range[]): string {
  const words = found.slice(0, MOST).map((one) => (one[0] === one[1] ? hertz(one[0]) : band(one).replace('–', ' to ')))
  return `${words.join(', ')}${found.length > MOST ? ' and elsewhere' : ''}`
}

function hasValues(series: (number | null)[]): boolean {
  return series.some((value) => value !== null)
}

/** Against its normal sound `at` an operating point; `isLate`: no sound has come for a while. */
export function comparison(spectrum: Spectrum, state: MachineState, at: string, isLate: boolean): string {
  const { hz, now, low, high } = spectrum
  if (state === 'off') return 'Switched off: nothing to compare.'
  if (state === 'lost' || !hasValues(now)) return 'No sound just now.'
  if (!hasValues(low) || !hasValues(high)) return 'There is no normal band to compare with yet.'
  const louder = ranges(hz, (bin) => (now[bin] ?? -Infinity) > (high[bin] ?? Infinity) + MARGIN_DB)
  const quieter = ranges(hz, (bin) => (now[bin] ?? Infinity) < (low[bin] ?? -Infinity) - MARGIN_DB)
  const when = isLate ? 'When last heard,' : 'Now'
  const normal = `than its normal sound${at} at`
  if (louder.length && quieter.length)
    return `${when} louder ${normal} ${named(louder)}; quieter at ${named(quieter)}.`
  if (louder.length) return `${when} louder ${normal} ${named(louder)}.`
  if (quieter.length) return `${when} quieter ${normal} ${named(quieter)}.`
  if (state === 'alert' || state === 'alarm')
    return 'Every frequency is within its normal band now; what is odd is how the sound changes: see the event’s picture.'
  return `${when} within the band of its normal sound${at} at all frequencies.`
}
