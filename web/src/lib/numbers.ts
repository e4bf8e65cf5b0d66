/** Numbers as people read them. */

/** Three figures that count; no exponents for anything a machine scores. */
export function score(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–'
  const size = Math.abs(value)
  if (size >= 1000) return value.toFixed(0)
  if (size >= 100) return value.toFixed(0)
  if (size >= 10) return value.toFixed(1)
  return value.toFixed(2)
}

/** Some figures that count, without exponents: 0.42, 24.8, 1500. */
export function figures(value: number, count = 3): string {
  const rounded = Math.abs(value) >= 10 ** count ? Math.round(value) : Number(value.toPrecision(count))
  return rounded.toLocaleString('en-GB', { maximumFractionDigits: 6, useGrouping: false })
}

/** 130 Hz, 2.24 kHz: three figures, as a tone is named. */
export function exactHertz(value: number): string {
  return value < 999.5 ? `${Math.round(value)} Hz` : `${figures(value / 1000)} kHz`
}

/** 850 Hz, 1.2 kHz */
export function hertz(value: number): string {
  if (value < 1000) return `${Math.round(value)} Hz`
  const kilo = value / 1000
  return `${kilo >= 10 || Number.isInteger(kilo) ? kilo.toFixed(0) : kilo.toFixed(1)} kHz`
}

export function band([low, high]: readonly [number, number]): string {
  if (low < 1000 && high < 1000) return `${Math.round(low)}–${Math.round(high)} Hz`
  if (low >= 1000) return `${hertz(low).replace(' kHz', '')}–${hertz(high)}`
  return `${hertz(low)}–${hertz(high)}`
}

/** 60 %; never 0 % for something that is there. */
export function percent(share: number): string {
  return share > 0 && share < 0.005 ? 'under 1 %' : `${Math.round(100 * share)} %`
}

/** How often a normal machine scores as high. */
export function rarity(share: number | null): string {
  if (share === null) return ''
  if (share < 1e-5) return 'fewer than 1 of 100,000 normal clips score as high'
  if (share >= 0.1) return `${Math.round(share * 100)} of 100 normal clips score as high`
  return `1 of ${Math.round(1 / share).toLocaleString('en-GB')} normal clips scores as high`
}

const STOPS: readonly [number, string][] = [
  [0.1, '1 false alert per 10 weeks'],
  [0.25, 'about 1 false alert per month'],
  [0.5, '1 false alert per 2 weeks'],
  [1, '1 false alert per week'],
  [2, '2 false alerts per week'],
  [7, '1 false alert per day'],
  [21, '3 false alerts per day'],
]

/** Stops of the slider: false alerts per week. */
export const FALSE_ALERT_STOPS: readonly number[] = STOPS.map(([value]) => value)

export function falseAlerts(value: number): string {
  const stopText = STOPS.find(([stop]) => Math.abs(stop - value) < 1e-9)
  return stopText ? stopText[1] : `${score(value)} false alerts per week`
}

export function nearestStop(value: number): number {
  const distance = (stop: number) => Math.abs(Math.log(stop / value))
  return FALSE_ALERT_STOPS.reduce(
    (best, stop, index) => (distance(stop) < distance(FALSE_ALERT_STOPS[best] ?? 1) ? index : best),
    0,
  )
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

/** Of the clock of a source against that of the computer; a few parts per million are normal. */
export function clockAccuracy(ppm: number): string {
  const rounded = Math.round(Math.abs(ppm))
  return rounded === 0 ? 'accurate' : `${rounded} ppm ${ppm < 0 ? 'slow' : 'fast'}`
}
