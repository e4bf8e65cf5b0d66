/** Diagnosis lines in words, and the cursors that a person measures with. */
import type { DiagnosisLine, LineSet, NamedLine } from '../api/types'
import { listed, t } from '../i18n'
import { figures, fixed, hertz } from './numbers'

/** Levels from 0 Hz on, evenly spaced. */
export interface Levels {
  spacing: number
  levels: readonly number[]
}

/** "the outer race of bearing drive end"; without a name of the part, only what it is. */
export function lineName({ kind, part }: Pick<DiagnosisLine, 'kind' | 'part'>): string {
  return t(`diagnosis.line.${kind}`, { part }).trim()
}

/** "BPFO drive end", for the drawing. */
export function shortName({ kind, part }: Pick<DiagnosisLine, 'kind' | 'part'>): string {
  return `${t(`diagnosis.short.${kind}`)} ${part}`.trim()
}

const ABBREVIATED = ['bpfo', 'bpfi', 'bsf', 'ftf']

/** "the outer race of bearing drive end (BPFO, 108 Hz, 2 harmonics)" */
export function namedLineText(line: NamedLine): string {
  const facts: string[] = []
  if (ABBREVIATED.includes(line.kind)) {
    const name = t(`diagnosis.short.${line.kind}`)
    facts.push(line.multiple > 1 ? t('diagnosis.multiple', { count: line.multiple, name }) : name)
  }
  facts.push(hertz(line.hz))
  if (line.multiple > 1 && !ABBREVIATED.includes(line.kind)) facts.push(t('diagnosis.times', { count: line.multiple }))
  if (line.sideband) facts.push(t('diagnosis.sideband', { number: line.sideband > 0 ? `+${line.sideband}` : `−${-line.sideband}` }))
  if (line.harmonics) facts.push(t('diagnosis.harmonicsFound', { count: line.harmonics }))
  return `${lineName(line)} (${listed(facts)})`
}

/** "on the line of …"; empty where something lies on none. */
export function linesText(lines: readonly NamedLine[]): string {
  return lines.length ? t('diagnosis.onLine', { lines: lines.map(namedLineText).join(t('diagnosis.or')) }) : ''
}

export function wholeSoundText(level: number | null): string {
  return level === null ? t('diagnosis.wholeSoundNone') : t('diagnosis.wholeSoundNow', { db: fixed(level, 0) })
}

/** How the lines came about, in a sentence. */
export function speedText({ speed_rpm, speed_origin }: LineSet, isEvent: boolean): string {
  if (speed_rpm === null) {
    if (isEvent) return t('diagnosis.speedUnknownEvent')
    return t(speed_origin === 'changing' ? 'diagnosis.speedChanging' : 'diagnosis.speedUnknown')
  }
  const key = isEvent ? 'event' : speed_origin === 'reported' ? 'reported' : 'fixed'
  return t(`diagnosis.speed.${key}`, { rpm: figures(speed_rpm, 5) })
}

/** A multiple of a line, as it is drawn. */
export interface DrawnLine {
  line: DiagnosisLine
  multiple: number
  hz: number
}

/** The lines with their harmonics that lie within a range. */
export function drawnLines(lines: readonly DiagnosisLine[], maxHz: number): DrawnLine[] {
  return lines.flatMap((line) =>
    Array.from({ length: line.harmonics }, (_, index) => ({ line, multiple: index + 1, hz: (index + 1) * line.hz })).filter(
      ({ hz }) => hz <= maxHz,
    ),
  )
}

/** "BPFO drive end", "2 × BPFO drive end" */
export function drawnName({ line, multiple }: DrawnLine): string {
  return multiple > 1 ? t('diagnosis.multiple', { count: multiple, name: shortName(line) }) : shortName(line)
}

/** Lines that a frequency lies on, as near as the spacing and the speed can tell. */
export function linesAt(hz: number, drawn: readonly DrawnLine[], spacing: number): DrawnLine[] {
  return drawn
    .filter((each) => Math.abs(each.hz - hz) <= Math.max(spacing, each.line.tolerance * each.hz))
    .sort((one, other) => Math.abs(one.hz - hz) - Math.abs(other.hz - hz))
}

/** Multiples of a frequency within a range, itself first. */
export function harmonicsOf(hz: number, maxHz: number, most = 10): number[] {
  if (hz <= 0) return []
  return Array.from({ length: most }, (_, index) => (index + 1) * hz).filter((each) => each <= maxHz)
}

/** Frequencies that lie a distance apart on both sides of another. */
export function sidebandsOf(hz: number, apart: number, maxHz: number, most = 3): number[] {
  if (apart <= 0) return []
  const steps = Array.from({ length: most }, (_, index) => index + 1)
  return steps.flatMap((step) => [hz - step * apart, hz + step * apart]).filter((each) => each > 0 && each <= maxHz)
}

export function levelAt({ spacing, levels }: Levels, hz: number): number | null {
  return levels[Math.round(hz / spacing)] ?? null
}

function isPeak(levels: readonly number[], index: number): boolean {
  const [before, here, after] = [levels[index - 1], levels[index], levels[index + 1]]
  return before !== undefined && here !== undefined && after !== undefined && here > before && here >= after
}

/** The highest level within some lines of a place: what a person means who clicks near a peak. */
export function peakNear({ spacing, levels }: Levels, hz: number, reach: number): number {
  const middle = Math.round(hz / spacing)
  const first = Math.max(1, middle - reach)
  let best = Math.min(Math.max(middle, 0), levels.length - 1)
  for (let index = first; index <= Math.min(levels.length - 1, middle + reach); index++)
    if ((levels[index] ?? -Infinity) > (levels[best] ?? -Infinity)) best = index
  return best * spacing
}

const PROMINENT_DB = 6
const AROUND = 10

/** The next peak that stands out, in a direction; the same place where there is none. */
export function nextPeak({ spacing, levels }: Levels, hz: number, direction: 1 | -1): number {
  for (let index = Math.round(hz / spacing) + direction; index > 0 && index < levels.length - 1; index += direction) {
    const around = levels.slice(Math.max(0, index - AROUND), index + AROUND + 1).sort((one, other) => one - other)
    const usual = around[Math.floor(around.length / 2)] ?? 0
    if (isPeak(levels, index) && (levels[index] ?? 0) - usual >= PROMINENT_DB) return index * spacing
  }
  return hz
}

/** The highest peaks from `lowest` Hz on, for the sentence that says what a chart shows. */
export function highestPeaks({ spacing, levels }: Levels, lowest: number, most = 3): number[] {
  const peaks = levels.flatMap((level, index) => (index * spacing >= lowest && isPeak(levels, index) ? [{ level, hz: index * spacing }] : []))
  return peaks
    .sort((one, other) => other.level - one.level)
    .slice(0, most)
    .map(({ hz }) => hz)
}

/** Where a frequency lies among the bins of a spectrogram, 0 = bottom … 1 = top; null: outside. */
export function binShare(hz: number, bins: readonly number[]): number | null {
  const above = bins.findIndex((bin) => bin >= hz)
  if (above < 1) return above === 0 && hz === bins[0] ? 0.5 / bins.length : null
  const low = bins[above - 1] ?? 0
  const high = bins[above] ?? hz
  return (above - 1 + (hz - low) / (high - low) + 0.5) / bins.length
}
