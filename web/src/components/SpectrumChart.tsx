import { useMemo, type ReactNode } from 'react'
import type uPlot from 'uplot'
import type { Spectrum } from '../api/types'
import { frequencyTicks } from '../lib/liveSpectrogram'
import { decibels, hertz } from '../lib/numbers'
import { colour, rem } from '../lib/theme'
import { axisStyle, Chart } from './Chart'

interface Props {
  spectrum: Spectrum
  /** What the line shows. */
  line: string
  /** What the band shows. */
  band: ReactNode
  summary: string
}

/** A spectrum as a line over the band of normal spectra. */
export function SpectrumChart({ spectrum, line, band, summary }: Props) {
  const { hz, low, mean, high, now } = spectrum
  const data = useMemo<uPlot.AlignedData>(() => [hz.map((_, bin) => bin), low, mean, high, now], [hz, low, mean, high, now])
  const options = (width: number): Omit<uPlot.Options, 'width' | 'height'> => {
    const axis = axisStyle()
    const ticks = frequencyTicks(hz, Math.floor(width / (4.5 * rem()))).map((tick) => ({ ...tick, bin: tick.share * hz.length - 0.5 }))
    const none = { show: false }
    return {
      legend: none,
      cursor: { show: false },
      scales: { x: { time: false } },
      axes: [
        {
          ...axis,
          size: 2.4 * rem(),
          splits: () => ticks.map((tick) => tick.bin),
          values: () => ticks.map((tick) => hertz(tick.hz)),
        },
        { ...axis, size: 4 * rem(), values: (_, splits) => splits.map(decibels) },
      ],
      series: [
        {},
        { stroke: 'transparent', points: none },
        { stroke: colour('text-soft'), width: 1, dash: [4, 3], points: none },
        { stroke: 'transparent', points: none },
        { stroke: colour('series'), width: 1.8, points: none },
      ],
      bands: [{ series: [3, 1], fill: colour('baseline-band') }],
    }
  }
  return (
    <>
      <p className="pointed">
        <span className="key line" aria-hidden="true" /> {line} <span className="key band" aria-hidden="true" /> {band}
      </p>
      <Chart options={options} version={String(hz.length)} data={data} height={13} summary={summary} />
    </>
  )
}
