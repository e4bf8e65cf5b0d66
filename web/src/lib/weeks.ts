/** Weeks of the calendar (ISO 8601), such as 2026-W46: from Monday to Sunday. */

const DAY = 86_400_000
const WEEK = 7 * DAY

/** Midnight of a week's Monday, as if the plant were in UTC. */
function monday(week: string): number {
  const [year = 0, number = 0] = week.split('-W').map(Number)
  const january4 = Date.UTC(year, 0, 4) // always in the first week
  const first = january4 - ((new Date(january4).getUTCDay() + 6) % 7) * DAY
  return first + (number - 1) * WEEK
}

/** The week of a day, such as 2026-11-18. */
export function weekOf(day: string): string {
  const time = Date.parse(`${day}T00:00:00Z`)
  const thursday = new Date(time + (3 - ((new Date(time).getUTCDay() + 6) % 7)) * DAY)
  const year = thursday.getUTCFullYear()
  const number = 1 + Math.round((thursday.getTime() - 3 * DAY - monday(`${year}-W01`)) / WEEK)
  return `${year}-W${String(number).padStart(2, '0')}`
}

/** The week so many weeks later. */
export function shifted(week: string, weeks: number): string {
  return weekOf(new Date(monday(week) + weeks * WEEK).toISOString().slice(0, 10))
}

/** The first and the last day of a week: 2026-11-09, 2026-11-15. */
export function daysOf(week: string): [string, string] {
  const first = monday(week)
  return [first, first + 6 * DAY].map((time) => new Date(time).toISOString().slice(0, 10)) as [string, string]
}
