import { useMemo } from 'react'
import type { BandTrend, EventSpectrogram, MachineEvent, MachineStatus, Spectrum } from '../api/types'
import { url } from '../api/client'
import { useFetched } from '../api/useFetched'
import { t } from '../i18n'
import { bandLevels, comparison, eventLevels, normalBand } from '../lib/spectrum'
import { Panel } from './Panel'
import { SpectrumChart } from './SpectrumChart'

/** Of an event that goes on, so much is shown. */
const MOST_SECONDS = 3600

interface Props {
  event: MachineEvent
  machine: MachineStatus
  spectrogram: EventSpectrogram
  zone: string
}

/** The spectrum of an event over the band of the baseline it is compared with. */
export function EventSpectrum({ event, machine, spectrogram, zone }: Props) {
  const atIntervals = machine.sensor?.at_intervals ?? false
  const { content } = useFetched<Spectrum>(url(`machines/${machine.id}/spectrum`))
  const range = { begin: event.began, end: event.ended ?? event.began + MOST_SECONDS }
  const bands = useFetched<BandTrend>(atIntervals ? url(`machines/${machine.id}/bands`, range) : null)
  const now = useMemo(
    () => (atIntervals ? bandLevels(bands.content ?? NOTHING) : eventLevels(spectrogram, event.began, event.ended)),
    [atIntervals, bands.content, spectrogram, event.began, event.ended],
  )
  const spectrum = useMemo(() => content && { ...content, now }, [content, now])
  // The band of another baseline would be the wrong one to compare with, and so would that of another axis.
  const isOther = event.baseline_learned_at !== null && event.baseline_learned_at !== machine.baseline?.learned_at
  const isOtherAxis = atIntervals && event.ended !== null && (machine.sensor?.axes.length ?? 0) > 1
  if (!spectrum?.low.length || spectrum.hz.length !== now.length || isOther || isOtherAxis) return null
  return (
    <Panel title={t('event.spectrum.title')}>
      <SpectrumChart
        spectrum={spectrum}
        line={t('event.spectrum.line')}
        band={normalBand('', event.baseline_learned_at, zone)}
        summary={comparison(spectrum, event.level, '', 'event')}
      />
    </Panel>
  )
}

const NOTHING: BandTrend = { seconds_per_point: 1, edges_hz: [], time: [], level_dbfs: [], levels: [] }
