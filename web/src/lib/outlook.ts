import type { Outlook } from '../api/types'
import { t } from '../i18n'

const UNITS: readonly [string, number][] = [
  ['minute', 60],
  ['hour', 3600],
  ['day', 86_400],
  ['week', 7 * 86_400],
  ['month', 30.4 * 86_400],
]
/** Up to so many of a unit are said in it: 36 hours, but 3 days. */
const MOST: Record<string, number> = { minute: 90, hour: 48, day: 21, week: 12, month: Infinity }

/** "Reaches alarm in 3 to 9 days"; empty where there is no outlook, or its time is over. */
export function outlookText(outlook: Outlook | null, now: number): string {
  if (!outlook || outlook.latest <= now) return ''
  const [unit, length] = UNITS.find(([name, seconds]) => outlook.latest - now <= (MOST[name] ?? 0) * seconds) ?? ['month', 2.6e6]
  const latest = Math.ceil((outlook.latest - now) / length)
  const earliest = Math.floor(Math.max(0, outlook.earliest - now) / length)
  return earliest === 0
    ? t(`condition.within.${unit}`, { count: latest })
    : t(`condition.between.${unit}`, { earliest, count: latest })
}
