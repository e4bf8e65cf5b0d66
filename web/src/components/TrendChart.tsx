import { useMemo, useRef, useState } from 'react'
import uPlot from 'uplot'
import type { ChangePoint, MachineEvent, Note, Thresholds, Trend } from '../api/types'
import { t } from '../i18n'
import { drawEvent, drawRanges, drawThreshold, placeMarks } from '../lib/chartMarks'
import { addTouchGestures, type Range } from '../lib/gestures'
import { rounded, score } from '../lib/numbers'
import { isLowerThanUsual } from '../lib/scores'
import { colour, rem } from '../lib/theme'
import { stamp } from '../lib/time'
import { summary, withGaps } from '../lib/trend'
import { changeText } from './ChangePoints'
import { axisStyle, Chart, dots, timeAxis } from './Chart'
import { NoteMarks } from './NoteMarks'

const IS_TOUCHED = window.matchMedia('(pointer: coarse)').matches

function legend(atIntervals: boolean, hasNegative: boolean): string {
  const shown = atIntervals ? t('trend.points') : t('trend.line')
  return t('trend.legend', {
    shown: hasNegative ? `${shown} ${t('trend.lowerThanUsual')}` : shown,
    hint: IS_TOUCHED ? t('trend.touchHint') : t('trend.mouseHint'),
  })
}

interface Props {
  trend: Trend
  range: [number, number]
  thresholds: Thresholds | null
  events: MachineEvent[]
  changes: ChangePoint[]
  notes: Note[]
  /** Measurements taken now and then are points, not a line. */
  atIntervals: boolean
  zone: string
  onZoom: (begin: number, end: number) => void
  /** Back to the range before zooming and moving. */
  onReset: () => void
}

/** Scores over time: mean, band from lowest to highest, thresholds, events and lasting changes. */
export function TrendChart({ trend, range, thresholds, events, changes, notes, atIntervals, zone, onZoom, onReset }: Props) {
  const [pointed, setPointed] = useState('')
  const [area, setArea] = useState({ left: 0, width: 0 })
  const latest = useRef({ range, thresholds, events, changes, onZoom, onReset })
  latest.current = { range, thresholds, events, changes, onZoom, onReset }
  // While fingers move the chart it is only drawn; the new range is fetched when they are lifted.
  const held = useRef<Range | null>(null)
  const data = useMemo((): uPlot.AlignedData => {
    const series = [trend.low, trend.mean, trend.high]
    return atIntervals ? [trend.time, ...series] : withGaps(trend.time, trend.seconds_per_point, series)
  }, [trend, atIntervals])

  const options = (): Omit<uPlot.Options, 'width' | 'height'> => {
    const axis = axisStyle()
    return {
      legend: { show: false },
      tzDate: (time) => uPlot.tzDate(new Date(time * 1000), zone),
      cursor: { drag: { x: true, y: false, setScale: false }, points: { show: false } },
      scales: {
        x: { time: true, range: () => held.current ?? latest.current.range },
        y: {
          range: (_, low, high) => {
            const top = Math.max(high ?? 0, (latest.current.thresholds?.alarm ?? 0) * 1.12, 0.1)
            return [Math.min(0, low ?? 0), top * 1.04]
          },
        },
      },
      axes: [
        timeAxis(zone),
        { ...axis, size: 4 * rem(), values: (_, splits) => splits.map((value) => rounded(value, 2)) },
      ],
      series: [
        {},
        { stroke: 'transparent', points: { show: false } },
        atIntervals ? dots() : { stroke: colour('series'), width: 1.6, points: { show: false } },
        { stroke: 'transparent', points: { show: false } },
      ],
      bands: atIntervals ? [] : [{ series: [3, 1], fill: colour('series-band') }],
      hooks: {
        ready: [
          (chart) => {
            chart.over.addEventListener('dblclick', () => latest.current.onReset())
            held.current = null
            addTouchGestures(chart.over, {
              range: () => latest.current.range,
              move: (moved) => {
                held.current = moved
                chart.setScale('x', { min: moved[0], max: moved[1] })
              },
              done: (moved) => {
                held.current = null
                latest.current.onZoom(...moved)
              },
              reset: () => latest.current.onReset(),
            })
          },
        ],
        draw: [
          (chart) => {
            const [left, width] = [chart.over.offsetLeft, chart.over.clientWidth]
            setArea((before) => (before.left === left && before.width === width ? before : { left, width }))
            if (atIntervals) drawRanges(chart)
            latest.current.events.forEach((event) => drawEvent(chart, event, latest.current.range[1]))
            placeMarks(chart, latest.current.changes.map((change) => ({ ...change, text: changeText(change, zone) })))
            const current = latest.current.thresholds
            if (!current) return
            drawThreshold(chart, current.alert, 'alert', score(current.alert))
            drawThreshold(chart, current.alarm, 'alarm', score(current.alarm))
          },
        ],
        setSelect: [
          (chart) => {
            if (chart.select.width < 4) return
            const begin = chart.posToVal(chart.select.left, 'x')
            const end = chart.posToVal(chart.select.left + chart.select.width, 'x')
            chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
            latest.current.onZoom(begin, end)
          },
        ],
        setCursor: [
          (chart) => {
            const index = chart.cursor.idx
            const [times, low, mean, high] = chart.data
            const time = index === null || index === undefined ? undefined : times[index]
            setPointed(
              time === undefined || index === null || index === undefined
                ? ''
                : t('trend.pointed', {
                    time: stamp(time, zone),
                    mean: score(mean?.[index]),
                    low: score(low?.[index]),
                    high: score(high?.[index]),
                  }),
            )
          },
        ],
      },
    }
  }
  return (
    <>
      <p className="pointed" aria-hidden="true">
        {pointed || legend(atIntervals, thresholds !== null && trend.mean.some((mean) => isLowerThanUsual(mean, thresholds)))}
      </p>
      <NoteMarks notes={notes} range={range} area={area} zone={zone} />
      <Chart
        options={options}
        version={`${zone} ${thresholds?.alarm} ${thresholds?.alert} ${events.length} ${changes.length} ${atIntervals}`}
        data={data}
        height={16.5}
        summary={summary(trend)}
      />
    </>
  )
}
