import { useMemo } from 'react'
import type uPlot from 'uplot'
import type { Machine, Spectrum } from '../api/types'
import { url } from '../api/client'
import { useFetched } from '../api/useFetched'
import { band, hertz } from '../lib/numbers'
import { atPoint } from '../lib/points'
import { colour, rem } from '../lib/theme'
import { frequencyMarks } from '../lib/waterfall'
import { axisStyle, Chart } from './Chart'
import { Empty } from './Empty'
import { Panel } from './Panel'

/** Where it is louder than the baseline ever was, as neighbouring bins put together. */
function louder(spectrum: Spectrum): [number, number][] {
  const bands: [number, number][] = []
  let before = -2
  spectrum.now.forEach((level, bin) => {
    if (level === null || level <= (spectrum.high[bin] ?? Infinity) + 1) return
    const hz = spectrum.hz[bin] ?? 0
    const last = bands.at(-1)
    if (last && bin === before + 1) last[1] = hz
    else bands.push([hz, hz])
    before = bin
  })
  return bands
}

function sentence(spectrum: Spectrum, at: string): string {
  const bands = louder(spectrum)
  if (!bands.length) return `Now within the band of its normal sound${at} at all frequencies.`
  const named = bands.slice(0, 3).map((found) => (found[0] === found[1] ? hertz(found[0]) : band(found)))
  return `Now louder than its normal sound${at} ever was, at ${named.join(', ')}${bands.length > 3 ? ' and elsewhere' : ''}.`
}

export function SpectrumPanel({ machine }: { machine: Machine }) {
  const { content, error } = useFetched<Spectrum>(url(`machines/${machine.id}/spectrum`), 1)
  const data = useMemo<uPlot.AlignedData>(
    () =>
      content
        ? [content.hz.map((_, bin) => bin), content.low, content.mean, content.high, content.now]
        : [[], [], [], [], []],
    [content],
  )
  const hz = content?.hz ?? []
  const at = atPoint(machine)
  const options = (width: number): Omit<uPlot.Options, 'width' | 'height'> => {
    const axis = axisStyle()
    const marks = frequencyMarks(hz, Math.floor(width / (4.5 * rem()))).map((mark) => ({ ...mark, bin: mark.share * hz.length - 0.5 }))
    const none = { show: false }
    return {
      legend: none,
      cursor: { show: false },
      scales: { x: { time: false } },
      axes: [
        {
          ...axis,
          size: 2.4 * rem(),
          splits: () => marks.map((mark) => mark.bin),
          values: () => marks.map((mark) => hertz(mark.hz)),
        },
        { ...axis, size: 4 * rem(), values: (_, splits) => splits.map((value) => `${value} dB`) },
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
    <Panel title="Spectrum against the baseline" className="half">
      {content && hz.length ? (
        <>
          <p className="pointed" aria-hidden="true">
            <span className="key line" /> now <span className="key band" /> normal{at}
          </p>
          <Chart options={options} version={String(hz.length)} data={data} height={13} summary={sentence(content, at)} />
        </>
      ) : (
        <Empty title={error || 'No baseline yet.'}>
          <p>Learn the normal sound first: “Learn a new baseline” below.</p>
        </Empty>
      )}
    </Panel>
  )
}
