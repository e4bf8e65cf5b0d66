import { useMemo } from 'react'
import { url } from './client'
import type { Note } from './types'
import { useFetched } from './useFetched'

export interface MachineNotes {
  /** The oldest first. */
  all: Note[]
  error: string
  refetch: () => void
}

/** The notes on the trend of a machine. */
export function useNotes(machine: string): MachineNotes {
  const { content, error, refetch } = useFetched<Note[]>(url(`machines/${machine}/notes`))
  return useMemo(() => ({ all: content ?? [], error, refetch }), [content, error, refetch])
}
