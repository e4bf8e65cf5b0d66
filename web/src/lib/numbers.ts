/**
 * Numbers as people read them, in their language.
 *
 * The service has the same rules in `src/ssdpt/common/numbers.py`, for mails, notifications and reports; a test
 * compares both on a table. A half is rounded away from zero, thousands are set apart from five digits on, and there
 * is no minus before a zero.
 */
import { t } from '../i18n'
import { locale } from '../i18n/language'

const UNKNOWN = '–'
/** Smaller values have six digits after the decimal sign at most, not figures. */
const TINY = 1e-4
const formatters = new Map<string, Intl.NumberFormat>()

function formatter(options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = `${locale()} ${JSON.stringify(options)}`
  const made = formatters.get(key) ?? new Intl.NumberFormat(locale(), options)
  formatters.set(key, made)
  return made
}

function written(value: number, options: Intl.NumberFormatOptions): string {
  if (!Number.isFinite(value)) return UNKNOWN
  const size = Math.abs(value)
  const short = formatter({ ...options, useGrouping: false }).format(size)
  const text = /^\d{5}/.test(short) ? formatter({ ...options, useGrouping: true }).format(size) : short
  return value < 0 && /[1-9]/.test(text) ? `-${text}` : text
}

/** With so many digits after the decimal sign. */
export function fixed(value: number, digits = 0): string {
  return written(value, { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

/** With at most so many digits after the decimal sign. */
export function rounded(value: number, digits: number): string {
  return written(value, { maximumFractionDigits: digits })
}

/** So many figures at most, but no digit before the decimal sign is rounded away: 0.42, 24.8, 1500. */
export function figures(value: number, count = 3): string {
  if (Math.abs(value) < TINY) return rounded(value, 6)
  return Math.abs(value) >= 10 ** (count - 1) ? fixed(value) : written(value, { maximumSignificantDigits: count })
}

/** A score or a threshold, 1.40, 24.8, 1500: no exponents for anything a machine scores. */
export function score(value: number | null | undefined): string {
  if (value === null || value === undefined) return UNKNOWN
  // What is rounded up to 10 or 100 is written as these are.
  const size = Math.abs(value)
  return fixed(value, size < 9.995 ? 2 : size < 99.95 ? 1 : 0)
}

/** 30 dB */
export function decibels(value: number): string {
  return `${fixed(value)} dB`
}

/** A frequency, 24.8 Hz, 130 Hz, 2.24 kHz: three figures. */
export function hertz(value: number): string {
  return value < 999.5 ? `${figures(value)} Hz` : `${figures(value / 1000)} kHz`
}

/** 890 of 891 with two. */
function significant(value: number, count: number): number {
  return Number(new Intl.NumberFormat('en', { maximumSignificantDigits: count, useGrouping: false }).format(value))
}

/**
 * Both ends of a band of frequencies, with two figures, and three where they would read the same; the unit is said
 * once where it is the same.
 */
export function bandEnds([low, high]: readonly [number, number]): [string, string] {
  const ends = (count: number) => [hertz(significant(low, count)), hertz(significant(high, count))] as const
  const [first, last] = ends(2)[0] === ends(2)[1] ? ends(3) : ends(2)
  const [number = '', unit] = first.split(' ')
  return [last.endsWith(` ${unit}`) ? number : first, last]
}

/** 850–990 Hz */
export function band(ends: readonly [number, number]): string {
  return bandEnds(ends).join('–')
}

/** 60 %; never 0 % for something that is there. */
export function percent(share: number): string {
  return share > 0 && share < 0.005 ? t('numbers.underOnePercent') : t('numbers.percent', { number: fixed(100 * share) })
}

/** How often a normal machine scores as high. */
export function rarity(share: number | null): string {
  if (share === null) return ''
  if (share < 1e-5) return t('numbers.rarity.fewer')
  if (share >= 0.1) return t('numbers.rarity.ofHundred', { number: fixed(share * 100) })
  return t('numbers.rarity.oneOf', { number: fixed(1 / share) })
}

const STOPS: readonly [number, () => string][] = [
  [0.1, () => t('numbers.falseAlerts.perTenWeeks')],
  [0.25, () => t('numbers.falseAlerts.perMonth')],
  [0.5, () => t('numbers.falseAlerts.perTwoWeeks')],
  [1, () => t('numbers.falseAlerts.perWeek')],
  [2, () => t('numbers.falseAlerts.twoPerWeek')],
  [7, () => t('numbers.falseAlerts.perDay')],
  [21, () => t('numbers.falseAlerts.threePerDay')],
]

/** Stops of the slider: false alerts per week. */
export const FALSE_ALERT_STOPS: readonly number[] = STOPS.map(([value]) => value)

export function falseAlerts(value: number): string {
  const stop = STOPS.find(([each]) => Math.abs(each - value) < 1e-9)
  return stop ? stop[1]() : t('numbers.falseAlerts.some', { number: figures(value) })
}

export function nearestStop(value: number): number {
  const distance = (stop: number) => Math.abs(Math.log(stop / value))
  return FALSE_ALERT_STOPS.reduce(
    (best, stop, index) => (distance(stop) < distance(FALSE_ALERT_STOPS[best] ?? 1) ? index : best),
    0,
  )
}

/** Of the clock of a source against that of the computer; a few parts per million are normal. */
export function clockAccuracy(value: number): string {
  const ppm = Math.round(Math.abs(value))
  if (ppm === 0) return t('numbers.clock.accurate')
  return value < 0 ? t('numbers.clock.slow', { ppm }) : t('numbers.clock.fast', { ppm })
}
