/** What is drawn over charts: thresholds, events, ranges and lasting changes. */
import type uPlot from 'uplot'
import type { MachineEvent } from '../api/types'
import { t } from '../i18n'
import { colour, rem } from './theme'

/** The label of the alarm above its line, that of the alert below: they may be close together. */
export function drawThreshold(chart: uPlot, value: number, name: 'alarm' | 'alert', text: string): void {
  drawLevel(chart, value, name)
  const { ctx, bbox } = chart
  const y = Math.round(chart.valToPos(value, 'y', true))
  if (y < bbox.top || y > bbox.top + bbox.height) return
  ctx.save()
  ctx.fillStyle = colour(name)
  ctx.textAlign = 'left'
  ctx.textBaseline = name === 'alarm' ? 'bottom' : 'top'
  ctx.font = `600 ${0.75 * rem() * devicePixelRatio}px sans-serif`
  const label = name === 'alarm' ? t('trend.alarm', { value: text }) : t('trend.alert', { value: text })
  const place = [bbox.left + 6 * devicePixelRatio, y + (name === 'alarm' ? -2 : 3) * devicePixelRatio] as const
  // With a rim, so that it can be read over a curve.
  ctx.strokeStyle = colour('surface')
  ctx.lineWidth = 4 * devicePixelRatio
  ctx.lineJoin = 'round'
  ctx.strokeText(label, ...place)
  ctx.fillText(label, ...place)
  ctx.restore()
}

/** A dashed line at a value. */
export function drawLevel(chart: uPlot, value: number, colourName: string): void {
  const { ctx, bbox } = chart
  const y = Math.round(chart.valToPos(value, 'y', true))
  if (y < bbox.top || y > bbox.top + bbox.height) return
  ctx.save()
  ctx.strokeStyle = colour(colourName)
  ctx.lineWidth = devicePixelRatio
  ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio])
  ctx.beginPath()
  ctx.moveTo(bbox.left, y)
  ctx.lineTo(bbox.left + bbox.width, y)
  ctx.stroke()
  ctx.restore()
}

export function drawEvent(chart: uPlot, event: MachineEvent, now: number): void {
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

/** From the lowest to the highest of each point, where points are not joined. Series 1 and 3 hold them. */
export function drawRanges(chart: uPlot): void {
  const { ctx } = chart
  const [times, low, , high] = chart.data
  ctx.save()
  ctx.strokeStyle = colour('series')
  ctx.lineWidth = devicePixelRatio
  ctx.beginPath()
  times.forEach((time, index) => {
    const [from, to] = [low?.[index], high?.[index]]
    if (from === null || from === undefined || to === null || to === undefined || from === to) return
    const x = chart.valToPos(time, 'x', true)
    ctx.moveTo(x, chart.valToPos(from, 'y', true))
    ctx.lineTo(x, chart.valToPos(to, 'y', true))
  })
  ctx.stroke()
  ctx.restore()
}

export interface ChartMark {
  time: number
  level: MachineEvent['level']
  text: string
}

/** Marks at the bottom of the chart, with a text when one points at them. */
export function placeMarks(chart: uPlot, marks: readonly ChartMark[]): void {
  const width = chart.over.clientWidth
  const shown = marks.map((mark) => ({ ...mark, x: chart.valToPos(mark.time, 'x') })).filter(({ x }) => x >= 0 && x <= width)
  const elements = [...chart.over.querySelectorAll<HTMLElement>('.change-point')]
  elements.slice(shown.length).forEach((element) => element.remove())
  shown.forEach(({ level, text, x }, index) => {
    const element = elements[index] ?? chart.over.appendChild(document.createElement('span'))
    const tip = element.firstElementChild ?? element.appendChild(document.createElement('span'))
    element.className = `change-point state-${level}`
    element.style.left = `${x}px`
    tip.className = x > width / 2 ? 'tip to-left' : 'tip'
    tip.textContent = text
  })
}
