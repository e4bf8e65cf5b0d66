import { useMemo } from 'react'
import type uPlot from 'uplot'
import type { Machine, Spectrum } from '../api/types'
import { url } from '../api/client'
import { useFetched } from '../api/useFetched'
import { useNow, useSpeed } from '../api/useLive'
import { lastSound } from '../lib/lastSound'
import { hertz } from '../lib/numbers'
import { atPoint } from '../lib/points'
import { comparison } from '../lib/spectrum'
import { colour, rem } from '../lib/theme'
import { frequencyMarks } from '../lib/waterfall'
import { axisStyle, Chart } from './Chart'
import { Empty } from './Empty'
import { Panel } from './Panel'

export function SpectrumPanel({ machine }: { machine: Machine }) {
  const { content, error } = useFetched<Spectrum>(url(`machines/${machine.id}/spectrum`), 1)
  // What was heard before it got lost is not how it sounds now.
  const isLost = machine.state === 'lost'
  const data = useMemo<uPlot.AlignedData>(
    () =>
      content
        ? [content.hz.map((_, bin) => bin), content.low, content.mean, content.high, isLost ? [] : content.now]
        : [[], [], [], [], []],
    [content, isLost],
  )
  const hz = content?.hz ?? []
  const at = atPoint(machine)
  const isLate = lastSound(machine, useNow(5), useSpeed()) !== ''
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
          <Chart options={options} version={String(hz.length)} data={data} height={13} summary={comparison(content, machine.state, at, isLate)} />
        </>
      ) : (
        <Empty title={error || 'Loading…'} />
      )}
    </Panel>
  )
}
