/**
 * Times in the time zone of the service, wherever the reader is, and as the reader's language writes
 * them: ISO 8601 in English, which is read on both sides of the Atlantic. Seconds since 1970, UTC.
 */
import { t } from '../i18n'
import { language, locale } from '../i18n/language'

const formatters = new Map<string, Intl.DateTimeFormat>()

function formatter(zone: string, options: Intl.DateTimeFormatOptions, written = locale()): Intl.DateTimeFormat {
  const key = written + zone + JSON.stringify(options)
  let cached = formatters.get(key)
  if (!cached) {
    cached = new Intl.DateTimeFormat(written, { timeZone: zone, hourCycle: 'h23', ...options })
    formatters.set(key, cached)
  }
  return cached
}

const TWO = '2-digit'
const DAY = { year: 'numeric', month: TWO, day: TWO } as const
const MINUTE = { hour: TWO, minute: TWO } as const
const CLOCK = { ...MINUTE, second: TWO } as const

interface Parts {
  year: string
  month: string
  day: string
  hour: string
  minute: string
  second: string
}

function parts(time: number, zone: string): Parts {
  const format = formatter(zone, { ...DAY, ...CLOCK }, 'en-GB')
  const values = Object.fromEntries(format.formatToParts(time * 1000).map((part) => [part.type, part.value]))
  return values as unknown as Parts
}

/** 2026-03-29T14:03:07, in every language. */
function iso(time: number, zone: string): string {
  const { year, month, day: date, hour, minute, second } = parts(time, zone)
  return `${year}-${month}-${date}T${hour}:${minute}:${second}`
}

/** 2026-03-29 in every language: for calculating and for names of files. */
export function isoDay(time: number, zone: string): string {
  return iso(time, zone).slice(0, 10)
}

/** 14-03-07 in every language: for names of files. */
export function isoClock(time: number, zone: string): string {
  return iso(time, zone).slice(11).replaceAll(':', '-')
}

function written(time: number, zone: string, options: Intl.DateTimeFormatOptions): string {
  return formatter(zone, options).format(time * 1000)
}

/** 14:03:07 */
export function clock(time: number, zone: string): string {
  return written(time, zone, CLOCK)
}

/** 2026-03-29; in German 29.03.2026 */
export function day(time: number, zone: string): string {
  return language() === 'en' ? isoDay(time, zone) : written(time, zone, DAY)
}

/** 2026-03-29 14:03:07; in German 29.03.2026, 14:03:07 */
export function stamp(time: number, zone: string): string {
  return language() === 'en' ? iso(time, zone).replace('T', ' ') : written(time, zone, { ...DAY, ...CLOCK })
}

/** Only the time if today, else with the date, to the minute. */
export function moment(time: number, now: number, zone: string): string {
  if (day(time, zone) === day(now, zone)) return clock(time, zone)
  return language() === 'en' ? stamp(time, zone).slice(0, -3) : written(time, zone, { ...DAY, ...MINUTE })
}

/** 3 Nov 2026, 14:00 */
export function date(time: number, zone: string): string {
  return written(time, zone, { day: 'numeric', month: 'short', year: 'numeric', ...MINUTE })
}

/** CET, GMT+9, … */
export function zoneName(time: number, zone: string): string {
  const all = formatter(zone, { timeZoneName: 'short' }).formatToParts(time * 1000)
  return all.find((part) => part.type === 'timeZoneName')?.value ?? zone
}

/** 2026-03-29T14:03, as <input type="datetime-local"> has it. */
export function toInput(time: number, zone: string): string {
  return iso(time, zone).slice(0, 16)
}

/** The time at which a clock in the zone shows this; in the hour skipped in spring, an hour later. */
export function fromInput(value: string, zone: string): number | null {
  const shown = Date.parse(`${value}Z`) / 1000
  if (Number.isNaN(shown)) return null
  const offset = (at: number) => Date.parse(`${iso(at, zone)}Z`) / 1000 - Math.floor(at)
  const first = shown - offset(shown)
  return shown - offset(first)
}

/** 45 s, 12 min, 3 h 20 min, 5 d 2 h */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  if (whole < 60) return t('time.seconds', { seconds: whole })
  const minutes = Math.round(whole / 60)
  if (minutes < 60) return t('time.minutes', { minutes })
  const hours = Math.floor(minutes / 60)
  if (hours < 24) return minutes % 60 ? t('time.hoursAndMinutes', { hours, minutes: minutes % 60 }) : t('time.hours', { hours })
  const days = Math.floor(hours / 24)
  return hours % 24 ? t('time.daysAndHours', { days, hours: hours % 24 }) : t('time.days', { days })
}

/** 45 s, 2 min 10 s, 3 h 20 min: to the second below an hour, where lengths are counted. */
export function exactDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  if (whole < 60 || whole >= 3600) return duration(whole)
  const [minutes, rest] = [Math.floor(whole / 60), whole % 60]
  return rest ? t('time.minutesAndSeconds', { minutes, seconds: rest }) : t('time.minutes', { minutes })
}

/** Labels of a time axis: the finest part that differs between neighbours. */
export function axisLabel(time: number, step: number, zone: string): string {
  const { year, month, day: date, hour, minute } = parts(time, zone)
  if (step < 60) return clock(time, zone)
  if (step < 86_400 && !(hour === '00' && minute === '00')) return `${hour}:${minute}`
  const isEnglish = language() === 'en'
  if (step < 28 * 86_400) return isEnglish ? `${month}-${date}` : written(time, zone, { month: TWO, day: TWO })
  return isEnglish ? `${year}-${month}` : written(time, zone, { year: 'numeric', month: TWO })
}
