import type { MachineEvent } from '../api/types'

export interface EventFilter {
  /** Empty: of all machines. */
  machine: string
  /** Empty: of all kinds. */
  kind: string
  /** Only those that are not closed. */
  open: boolean
  /** Empty: of both levels. */
  level?: string
  /** What a person says it was; `none`: nothing yet. */
  label?: string
  /** Named or recognised. */
  fault?: string
  /** Only those without a fault. */
  unnamed?: boolean
  /** Words, which only the service can look for. */
  text?: string
  /** Seconds since 1970: those that overlap this range. */
  begin?: number | undefined
  end?: number | undefined
}

/** The fault that a person has named, or the one that was recognised; empty: neither. */
export function faultOf(event: MachineEvent): string {
  return event.fault || event.looks_like?.fault || ''
}

function matches(event: MachineEvent, filter: EventFilter): boolean {
  const { machine, kind, open, level, label, fault, unnamed, begin, end } = filter
  return (
    (!machine || event.machine === machine) &&
    (!kind || event.kind === kind) &&
    (!level || event.level === level) &&
    (!label || (event.label || 'none') === label) &&
    (!fault || faultOf(event) === fault) &&
    (!unnamed || !faultOf(event)) &&
    (begin === undefined || (event.ended ?? Infinity) >= begin) &&
    (end === undefined || event.began < end) &&
    (!open || event.state !== 'cleared')
  )
}

/**
 * Events that were fetched, in the version of the live stream where it has one, and new ones, newest
 * first. While there are more to fetch, nothing older than the last fetched event is added.
 */
export function mergedEvents(fetched: MachineEvent[], live: MachineEvent[], filter: EventFilter, hasMore: boolean): MachineEvent[] {
  const oldest = hasMore ? (fetched.at(-1)?.began ?? -Infinity) : -Infinity
  const byId = new Map(fetched.map((event) => [event.id, event]))
  for (const event of live) if (byId.has(event.id) || (!filter.text && event.began >= oldest)) byId.set(event.id, event)
  return [...byId.values()].filter((event) => matches(event, filter)).sort((a, b) => b.began - a.began)
}
