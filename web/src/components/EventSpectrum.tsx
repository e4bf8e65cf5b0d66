import { useMemo } from 'react'
import type { EventSpectrogram, MachineEvent, MachineStatus, Spectrum } from '../api/types'
import { url } from '../api/client'
import { useFetched } from '../api/useFetched'
import { comparison, eventLevels } from '../lib/spectrum'
import { date } from '../lib/time'
import { Panel } from './Panel'
import { SpectrumChart } from './SpectrumChart'

interface Props {
  event: MachineEvent
  machine: MachineStatus
  spectrogram: EventSpectrogram
  zone: string
}

/** The spectrum of an event over the band of the baseline it is compared with. */
export function EventSpectrum({ event, machine, spectrogram, zone }: Props) {
  const { content } = useFetched<Spectrum>(url(`machines/${machine.id}/spectrum`))
  const now = useMemo(() => eventLevels(spectrogram, event.began, event.ended), [spectrogram, event.began, event.ended])
  const spectrum = useMemo(() => content && { ...content, now }, [content, now])
  // The band of another baseline would be the wrong one to compare with.
  const isOther = event.baseline_learned_at !== null && event.baseline_learned_at !== machine.baseline?.learned_at
  if (!spectrum?.low.length || spectrum.hz.length !== now.length || isOther) return null
  return (
    <Panel title="Spectrum of the event">
      <SpectrumChart
        spectrum={spectrum}
        line="this event"
        band={`normal${event.baseline_learned_at === null ? '' : `, baseline of ${date(event.baseline_learned_at, zone)}`}`}
        summary={comparison(spectrum, event.level, '', 'In this event')}
      />
    </Panel>
  )
}
