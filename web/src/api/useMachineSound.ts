import { useEffect, useState } from 'react'
import { extended, type LiveSpectrogram } from '../lib/liveSpectrogram'
import { errorMessage, get, url } from './client'
import type { MachineSound, Spectrum } from './types'

const SECONDS = 60

export interface Sound {
  spectrum: Spectrum | null
  spectrogram: LiveSpectrogram | null
  error: string
}

const NOTHING: Sound = { spectrum: null, spectrogram: null, error: '' }

/**
 * Spectrum and spectrogram of the machine that is shown: first of a whole minute, then every second
 * what is new. The only request that is repeated: sound of all machines would overload the live
 * stream, and browsers allow few streams at a time. Null: no machine.
 */
export function useMachineSound(id: string | null): Sound {
  const [sound, setSound] = useState(NOTHING)
  useEffect(() => {
    if (id === null) return
    const controller = new AbortController()
    let previous: LiveSpectrogram | null = null
    let timer = 0
    const update = async () => {
      const began = performance.now()
      try {
        if (!document.hidden) {
          const seconds = previous ? 5 : SECONDS
          const answer = await get<MachineSound>(url(`machines/${id}/sound`, { seconds }), controller.signal)
          const part = answer.spectrogram
          // After a pause, five seconds leave a gap: ask for the whole minute again.
          const isLate = previous !== null && part.begin > previous.end + part.seconds_per_column
          previous = isLate ? null : extended(previous, part, SECONDS)
          if (previous) setSound({ spectrum: answer.spectrum, spectrogram: previous, error: '' })
        }
      } catch (problem) {
        if (controller.signal.aborted) return
        setSound((before) => ({ ...before, error: errorMessage(problem) }))
        previous = null
      }
      if (!controller.signal.aborted)
        timer = window.setTimeout(() => void update(), Math.max(200, 1000 - (performance.now() - began)))
    }
    setSound(NOTHING)
    void update()
    return () => {
      controller.abort()
      window.clearTimeout(timer)
    }
  }, [id])
  return sound
}
