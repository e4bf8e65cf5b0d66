import { useMemo, useRef, useState } from 'react'
import uPlot from 'uplot'
import type { MachineEvent, Thresholds, Trend } from '../api/types'
import { addTouchGestures, type Range } from '../lib/gestures'
import { score } from '../lib/numbers'
import { colour, rem } from '../lib/theme'
import { axisLabel, stamp } from '../lib/time'
import { summary, withGaps } from '../lib/trend'
import { axisStyle, Chart } from './Chart'

const HINT = window.matchMedia('(pointer: coarse)').matches
  ? 'Pinch to zoom, drag to move, double tap to reset.'
  : 'Drag to zoom, double click to reset.'

interface Props {
  trend: Trend
  range: [number, number]
  thresholds: Thresholds | null
  events: MachineEvent[]
  zone: string
  onZoom: (begin: number, end: number) => void
  /** Back to the range before zooming and moving. */
  onReset: () => void
}

/** The label of the alarm above its line, that of the alert below: they may be close together. */
function drawThreshold(chart: uPlot, value: number, name: 'alarm' | 'alert'): void {
  const { ctx, bbox } = chart
  const y = Math.round(chart.valToPos(value, 'y', true))
  if (y < bbox.top || y > bbox.top + bbox.height) return
  ctx.save()
  ctx.strokeStyle = ctx.fillStyle = colour(name)
  ctx.lineWidth = devicePixelRatio
  ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio])
  ctx.beginPath()
  ctx.moveTo(bbox.left, y)
  ctx.lineTo(bbox.left + bbox.width, y)
  ctx.stroke()
  ctx.textAlign = 'left'
  ctx.textBaseline = name === 'alarm' ? 'bottom' : 'top'
  ctx.font = `600 ${0.75 * rem() * devicePixelRatio}px sans-serif`
  ctx.fillText(`${name} ${score(value)}`, bbox.left + 6 * devicePixelRatio, y + (name === 'alarm' ? -2 : 3) * devicePixelRatio)
  ctx.restore()
}

function drawEvent(chart: uPlot, event: MachineEvent, now: number): void {
  const { ctx, bbox } = chart
  const from = chart.valToPos(event.began, 'x', true)
  const to = Math.max(chart.valToPos(event.ended ?? now, 'x', true), from + 2)
  const left = Math.max(from, bbox.left)
  const right = Math.min(to, bbox.left + bbox.width)
  if (right <= left) return
  const tall = 7 * devicePixelRatio
  ctx.save()
  ctx.fillStyle = colour(event.level)
  ctx.globalAlpha = 0.1
  ctx.fillRect(left, bbox.top, right - left, bbox.height)
  ctx.globalAlpha = 1
  if (from >= bbox.left) {
    ctx.beginPath()
    ctx.moveTo(from - tall, bbox.top)
    ctx.lineTo(from + tall, bbox.top)
    ctx.lineTo(from, bbox.top + 1.4 * tall)
    ctx.fill()
  }
  ctx.restore()
}

/** Scores over time: mean, band from lowest to highest, thresholds and events. */
export function TrendChart({ trend, range, thresholds, events, zone, onZoom, onReset }: Props) {
  const [pointed, setPointed] = useState('')
  const latest = useRef({ range, thresholds, events, onZoom, onReset })
  latest.current = { range, thresholds, events, onZoom, onReset }
  // While fingers move the chart it is only drawn; the new range is fetched when they are lifted.
  const held = useRef<Range | null>(null)
  const data = useMemo(() => withGaps(trend) as uPlot.AlignedData, [trend])

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
        { ...axis, size: 2.4 * rem(), space: 4.6 * rem(), values: (_, splits, __, ___, step) => splits.map((time) => axisLabel(time, step, zone)) },
        { ...axis, size: 3 * rem(), values: (_, splits) => splits.map((value) => String(Number(value.toFixed(2)))) },
      ],
      series: [
        {},
        { stroke: 'transparent', points: { show: false } },
        { stroke: colour('series'), width: 1.6, points: { show: false } },
        { stroke: 'transparent', points: { show: false } },
      ],
      bands: [{ series: [3, 1], fill: colour('series-band') }],
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
            latest.current.events.forEach((event) => drawEvent(chart, event, latest.current.range[1]))
            const current = latest.current.thresholds
            if (!current) return
            drawThreshold(chart, current.alert, 'alert')
            drawThreshold(chart, current.alarm, 'alarm')
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
                : `${stamp(time, zone)} · ${score(mean?.[index])} (${score(low?.[index])} to ${score(high?.[index])})`,
            )
          },
        ],
      },
    }
  }
  return (
    <>
      <p className="pointed" aria-hidden="true">
        {pointed || `Line: mean. Band: lowest to highest. ${HINT}`}
      </p>
      <Chart
        options={options}
        version={`${zone} ${thresholds?.alarm} ${thresholds?.alert} ${events.length}`}
        data={data}
        height={16.5}
        summary={summary(trend, thresholds?.alarm ?? null, thresholds?.alert ?? null)}
      />
    </>
  )
}
