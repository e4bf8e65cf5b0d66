import { useEffect, useState } from 'react'
import type { Machine, Spectrogram } from '../api/types'
import { get, url, words } from '../api/client'
import { extended, type Waterfall } from '../lib/waterfall'
import { Empty } from './Empty'
import { Panel } from './Panel'
import { SpectrogramCanvas } from './SpectrogramCanvas'

const SECONDS = 60
const MARKS = [60, 45, 30, 15].map((ago) => ({ share: 1 - ago / SECONDS, text: `−${ago} s` })).concat({ share: 1, text: 'now' })

/** The whole minute first, then every second what is new. */
function useWaterfall(id: string): { waterfall: Waterfall | null; error: string } {
  const [waterfall, setWaterfall] = useState<Waterfall | null>(null)
  const [error, setError] = useState('')
  useEffect(() => {
    const controller = new AbortController()
    let known: Waterfall | null = null
    let timer = 0
    const ask = async () => {
      const began = performance.now()
      try {
        if (!document.hidden) {
          const seconds = known ? 5 : SECONDS
          const part = await get<Spectrogram>(url(`machines/${id}/waterfall`, { seconds }), controller.signal)
          // After a pause the five seconds leave a hole: ask for the whole minute again.
          const isLate = known !== null && part.begin > known.end + part.seconds_per_column
          known = isLate ? null : extended(known, part, SECONDS)
          if (known) setWaterfall(known)
          setError('')
        }
      } catch (problem) {
        if (controller.signal.aborted) return
        setError(words(problem))
        known = null
      }
      if (!controller.signal.aborted)
        timer = window.setTimeout(() => void ask(), Math.max(200, 1000 - (performance.now() - began)))
    }
    setWaterfall(null)
    void ask()
    return () => {
      controller.abort()
      window.clearTimeout(timer)
    }
  }, [id])
  return { waterfall, error }
}

export function WaterfallPanel({ machine }: { machine: Machine }) {
  const { waterfall, error } = useWaterfall(machine.id)
  const isEmpty = !waterfall?.columns.some((column) => column !== null)
  return (
    <Panel title="Sound of the last minute" className="half">
      {waterfall && !isEmpty ? (
        <SpectrogramCanvas
          columns={waterfall.columns}
          hz={waterfall.hz}
          marks={MARKS}
          label={`Live spectrogram of ${machine.name}: time from left to right, frequency from bottom to top`}
        />
      ) : (
        <Empty title={error || (waterfall ? 'No sound in the last minute.' : 'Loading…')}>
          {waterfall && <p>{machine.source.words}</p>}
        </Empty>
      )}
    </Panel>
  )
}
