import { useState } from 'react'
import { words } from '../api/client'

export interface Action {
  busy: boolean
  error: string
  run: (work: () => Promise<unknown>) => Promise<boolean>
}

/** Something a person asked for: busy while it runs, with a sentence when it fails. */
export function useAction(): Action {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState('')
  const run = async (work: () => Promise<unknown>): Promise<boolean> => {
    setBusy(true)
    setError('')
    try {
      await work()
      return true
    } catch (problem) {
      setError(words(problem))
      return false
    } finally {
      setBusy(false)
    }
  }
  return { busy, error, run }
}
