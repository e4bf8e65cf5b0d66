import { useEffect, useRef, useState } from 'react'
import { extended, type LiveSpectrogram } from '../lib/liveSpectrogram'
import { errorMessage, get, post, remove, ServiceError, url } from './client'
import type { TrialStatus } from './types'

const SECONDS = 60
const EVERY = 500 // milliseconds: a level meter must react
const RETRY = 2000

export interface Trial {
  status: TrialStatus | null
  spectrogram: LiveSpectrogram | null
  error: string
}

const NOTHING: Trial = { status: null, spectrogram: null, error: '' }

/**
 * Opens a source for as long as it is shown; the service closes it when nobody asks any more.
 * Null: nothing is tried. `settings` as text, so that the same settings go on. `reopens`: where the service
 * closed it all the same, as after a restart or a line that was slow for ten seconds, it is opened again.
 */
export function useTrial(settings: string | null, reopens = true): Trial {
  const [trial, setTrial] = useState(NOTHING)
  const stays = useRef(reopens)
  stays.current = reopens
  useEffect(() => {
    setTrial(NOTHING)
    if (settings === null) return
    const controller = new AbortController()
    let id = ''
    let timer = 0
    let wasOpen = false
    let previous: LiveSpectrogram | null = null
    const close = () => {
      if (id) void remove(url(`trials/${id}`)).catch(() => undefined) // it may be over
    }
    const update = async () => {
      try {
        const status = id
          ? await get<TrialStatus>(url(`trials/${id}`, { seconds: previous ? 5 : SECONDS }), controller.signal)
          : await post<TrialStatus>(url('trials'), JSON.parse(settings))
        id = status.id
        wasOpen = true
        if (controller.signal.aborted) return close() // left while it was opened
        previous = status.spectrogram.columns.length ? extended(previous, status.spectrogram, SECONDS) : previous
        setTrial({ status, spectrogram: previous, error: '' })
        timer = window.setTimeout(() => void update(), EVERY)
      } catch (problem) {
        if (controller.signal.aborted) return
        const isOver = problem instanceof ServiceError && problem.status === 404
        if (isOver) id = ''
        if (!isOver || !stays.current) setTrial((before) => ({ ...before, error: errorMessage(problem) }))
        // What never opened is not tried again: the person corrects what was entered.
        if (wasOpen && stays.current) timer = window.setTimeout(() => void update(), RETRY)
      }
    }
    void update()
    return () => {
      controller.abort() // nothing is asked of a trial that is over
      window.clearTimeout(timer)
      close()
    }
  }, [settings])
  return trial
}
