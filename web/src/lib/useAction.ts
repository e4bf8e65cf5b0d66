import { useState } from 'react'
import { errorMessage } from '../api/client'

export interface Action {
  busy: boolean
  error: string
  run: (work: () => Promise<unknown>) => Promise<boolean>
}

/** An action of the user: busy while it runs, with a sentence if it fails. */
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
      setError(errorMessage(problem))
      return false
    } finally {
      setBusy(false)
    }
  }
  return { busy, error, run }
}
