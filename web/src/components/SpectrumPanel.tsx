import { useMemo } from 'react'
import type uPlot from 'uplot'
import type { MachineStatus } from '../api/types'
import type { Sound } from '../api/useMachineSound'
import { useNow, useSpeed } from '../api/useLive'
import { lastSound } from '../lib/lastSound'
import { hertz } from '../lib/numbers'
import { atCurrentPoint } from '../lib/operatingPoints'
import { comparison } from '../lib/spectrum'
import { colour, rem } from '../lib/theme'
import { frequencyTicks } from '../lib/liveSpectrogram'
import { axisStyle, Chart } from './Chart'
import { EmptyState } from './EmptyState'
import { Panel } from './Panel'

export function SpectrumPanel({ machine, sound }: { machine: MachineStatus; sound: Sound }) {
  const { spectrum: content, error } = sound
  // The last sound of a lost source is not the sound of now.
  const isLost = machine.state === 'lost'
  const data = useMemo<uPlot.AlignedData>(
    () =>
      content
        ? [content.hz.map((_, bin) => bin), content.low, content.mean, content.high, isLost ? [] : content.now]
        : [[], [], [], [], []],
    [content, isLost],
  )
  const hz = content?.hz ?? []
  const at = atCurrentPoint(machine)
  const isLate = lastSound(machine, useNow(5), useSpeed()) !== ''
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
        <EmptyState title={error || 'Loading…'} />
      )}
    </Panel>
  )
}
