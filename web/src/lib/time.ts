/** Times in the time zone of the service, wherever the reader is. Seconds since 1970, UTC. */

const formatters = new Map<string, Intl.DateTimeFormat>()

function formatter(zone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = zone + JSON.stringify(options)
  let cached = formatters.get(key)
  if (!cached) {
    cached = new Intl.DateTimeFormat('en-GB', { timeZone: zone, hourCycle: 'h23', ...options })
    formatters.set(key, cached)
  }
  return cached
}

interface Parts {
  year: string
  month: string
  day: string
  hour: string
  minute: string
  second: string
}

function parts(time: number, zone: string): Parts {
  const two = '2-digit'
  const format = formatter(zone, {
    year: 'numeric',
    month: two,
    day: two,
    hour: two,
    minute: two,
    second: two,
  })
  const values = Object.fromEntries(format.formatToParts(time * 1000).map((part) => [part.type, part.value]))
  return values as unknown as Parts
}

/** 14:03:07 */
export function clock(time: number, zone: string): string {
  const { hour, minute, second } = parts(time, zone)
  return `${hour}:${minute}:${second}`
}

/** 2026-03-29 */
export function day(time: number, zone: string): string {
  const { year, month, day: date } = parts(time, zone)
  return `${year}-${month}-${date}`
}

/** 2026-03-29 14:03:07 */
export function stamp(time: number, zone: string): string {
  return `${day(time, zone)} ${clock(time, zone)}`
}

/** Only the time if today, else with the date. */
export function moment(time: number, now: number, zone: string): string {
  return day(time, zone) === day(now, zone) ? clock(time, zone) : stamp(time, zone).slice(0, -3)
}

/** 3 Nov 2026, 14:00 */
export function date(time: number, zone: string): string {
  const format = formatter(zone, { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' })
  return format.format(time * 1000)
}

/** CET, GMT+9, … */
export function zoneName(time: number, zone: string): string {
  const all = formatter(zone, { timeZoneName: 'short' }).formatToParts(time * 1000)
  return all.find((part) => part.type === 'timeZoneName')?.value ?? zone
}

/** 2026-03-29T14:03, as <input type="datetime-local"> has it. */
export function toInput(time: number, zone: string): string {
  return stamp(time, zone).slice(0, 16).replace(' ', 'T')
}

/** The time at which a clock in the zone shows this; in the hour skipped in spring, an hour later. */
export function fromInput(value: string, zone: string): number | null {
  const shown = Date.parse(`${value}Z`) / 1000
  if (Number.isNaN(shown)) return null
  const offset = (at: number) => Date.parse(`${stamp(at, zone).replace(' ', 'T')}Z`) / 1000 - Math.floor(at)
  const first = shown - offset(shown)
  return shown - offset(first)
}

/** 45 s, 12 min, 3 h 20 min, 5 d 2 h */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  if (whole < 60) return `${whole} s`
  const minutes = Math.round(whole / 60)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 24) return minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`
  const days = Math.floor(hours / 24)
  return hours % 24 ? `${days} d ${hours % 24} h` : `${days} d`
}

/** 45 s, 2 min 10 s, 3 h 20 min: to the second below an hour, where lengths are counted. */
export function exactDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  if (whole < 60 || whole >= 3600) return duration(whole)
  return whole % 60 ? `${Math.floor(whole / 60)} min ${whole % 60} s` : `${whole / 60} min`
}

/** Labels of a time axis: the finest part that differs between neighbours. */
export function axisLabel(time: number, step: number, zone: string): string {
  const { year, month, day: date, hour, minute, second } = parts(time, zone)
  if (step < 60) return `${hour}:${minute}:${second}`
  if (step < 86_400) return hour === '00' && minute === '00' ? `${month}-${date}` : `${hour}:${minute}`
  return step < 28 * 86_400 ? `${month}-${date}` : `${year}-${month}`
}
