/** The filters of the event list, which are kept in the address of the page. */
import type { EventFilter } from './events'
import { link } from './route'
import { fromInput } from './time'

export interface EventSearch {
  machine: string
  kind: string
  open: string
  level: string
  label: string
  fault: string
  unnamed: string
  text: string
  /** Days, such as 2026-11-01; the last one is included. */
  from: string
  to: string
  grouped: string
}

const NONE: EventSearch = {
  machine: '', kind: '', open: '', level: '', label: '', fault: '', unnamed: '', text: '', from: '', to: '', grouped: '',
}

export function searchOf(query: URLSearchParams): EventSearch {
  return Object.fromEntries(Object.keys(NONE).map((name) => [name, query.get(name) ?? ''])) as unknown as EventSearch
}

export function searchLink(search: EventSearch): string {
  return link('events', '', { ...search })
}

/** Whether anything but the grouping is chosen. */
export function isFiltered({ grouped: _, ...filters }: EventSearch): boolean {
  return Object.values(filters).some(Boolean)
}

function midnight(day: string, zone: string): number | undefined {
  return /^\d{4}-\d\d-\d\d$/.test(day) ? (fromInput(`${day}T00:00`, zone) ?? undefined) : undefined
}

function nextDay(day: string): string {
  const time = Date.parse(`${day}T00:00:00Z`)
  return Number.isNaN(time) ? '' : new Date(time + 86_400_000).toISOString().slice(0, 10)
}

/** The filter for the service; days are those of the plant. */
export function filterOf(search: EventSearch, zone: string): EventFilter {
  const { machine, kind, level, label, fault, text } = search
  return {
    machine, kind, level, label, fault, text,
    open: search.open === 'true',
    unnamed: search.unnamed === 'true',
    begin: midnight(search.from, zone),
    end: midnight(nextDay(search.to), zone),
  }
}
