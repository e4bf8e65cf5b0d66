import type { MachineEvent } from '../api/types'

export interface EventFilter {
  /** Empty: of all machines. */
  machine: string
  /** Empty: of all kinds. */
  kind: string
  /** Only those that are not closed. */
  open: boolean
}

function matches(event: MachineEvent, { machine, kind, open }: EventFilter): boolean {
  return (!machine || event.machine === machine) && (!kind || event.kind === kind) && (!open || event.state !== 'cleared')
}

/**
 * Events that were fetched, in the version of the live stream where it has one, and new ones, newest
 * first. While there are more to fetch, nothing older than the last fetched event is added.
 */
export function mergedEvents(fetched: MachineEvent[], live: MachineEvent[], filter: EventFilter, hasMore: boolean): MachineEvent[] {
  const oldest = hasMore ? (fetched.at(-1)?.began ?? -Infinity) : -Infinity
  const byId = new Map(fetched.map((event) => [event.id, event]))
  for (const event of live) if (byId.has(event.id) || event.began >= oldest) byId.set(event.id, event)
  return [...byId.values()].filter((event) => matches(event, filter)).sort((a, b) => b.began - a.began)
}
