import { locale } from '../i18n/language'

const UNITS = ['kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const

/** 1 kB, 12 MB, 3.4 GB: a thousand each, as file managers count. */
export function byteSize(bytes: number): string {
  let value = Math.max(1, bytes / 1000)
  let unit = 0
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000
    unit++
  }
  const digits = value < 9.95 && unit > 0 ? 1 : 0
  const options = { style: 'unit', unit: UNITS[unit] ?? 'terabyte', maximumFractionDigits: digits } as const
  return new Intl.NumberFormat(locale(), options).format(value)
}
