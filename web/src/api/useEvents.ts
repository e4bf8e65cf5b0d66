import { useCallback, useMemo, useState } from 'react'
import { mergedEvents, type EventFilter } from '../lib/events'
import { get, url } from './client'
import type { MachineEvent } from './types'
import { useFetched } from './useFetched'
import { useLive } from './useLive'

interface Events {
  /** Newest first; null until the first page has been fetched. */
  events: MachineEvent[] | null
  error: string
  hasMore: boolean
  fetchMore: () => Promise<void>
}

type Query = Parameters<typeof url>[1]

/** The filter as the service reads it. */
export function eventQuery({ open, unnamed, ...filter }: EventFilter): NonNullable<Query> {
  return { ...filter, open: open || undefined, unnamed: unnamed || undefined }
}

/** Events that match a filter: pages from the service, kept up to date by the live stream. */
export function useEvents(filter: EventFilter, pageSize: number): Events {
  const live = useLive().events
  const query = JSON.stringify(eventQuery(filter))
  const address = useCallback(
    (before?: number) => url('events', { ...(JSON.parse(query) as Query), before, limit: pageSize }),
    [query, pageSize],
  )
  const first = useFetched<MachineEvent[]>(address())
  const [older, setOlder] = useState<{ address: string; events: MachineEvent[]; isEnd: boolean } | null>(null)
  const more = older?.address === address() ? older : null
  const fetched = useMemo(() => first.content && [...first.content, ...(more?.events ?? [])], [first.content, more])
  const hasMore = !(more?.isEnd ?? (first.content?.length ?? 0) < pageSize)
  const events = useMemo(
    () => fetched && mergedEvents(fetched, Object.values(live), filter, hasMore),
    [fetched, live, query, hasMore],
  )
  const fetchMore = async () => {
    const next = await get<MachineEvent[]>(address(fetched?.at(-1)?.began))
    setOlder({ address: address(), events: [...(more?.events ?? []), ...next], isEnd: next.length < pageSize })
  }
  return { events, error: first.error, hasMore, fetchMore }
}
