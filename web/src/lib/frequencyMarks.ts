/** What is drawn over a spectrum: the lines of the machine, and the cursor with its harmonics. */
import type uPlot from 'uplot'
import { drawnName, type DrawnLine } from './diagnosis'
import { colour, rem } from './theme'

function vertical({ ctx, bbox }: uPlot, x: number): void {
  ctx.beginPath()
  ctx.moveTo(x, bbox.top)
  ctx.lineTo(x, bbox.top + bbox.height)
  ctx.stroke()
}

function isInside({ bbox }: uPlot, x: number): boolean {
  return x >= bbox.left && x <= bbox.left + bbox.width
}

/** Rows of names above a spectrum, so that they hide none of it; in rem, with the space they need. */
const ROWS = 4
const ROW = 0.9
export const NAMES_HEIGHT = ROWS * ROW

/** The lines of the machine, with the names of the fundamentals above them. */
export function drawLines(chart: uPlot, lines: readonly DrawnLine[]): void {
  const { ctx, bbox } = chart
  const size = 0.72 * rem() * devicePixelRatio
  ctx.save()
  ctx.strokeStyle = colour('alert')
  ctx.fillStyle = colour('alert')
  ctx.font = `600 ${size}px sans-serif`
  ctx.textAlign = 'left'
  ctx.textBaseline = 'bottom'
  const rows: number[] = [] // where the last name of each row ends
  const placed = lines.map((line) => ({ line, x: Math.round(chart.valToPos(line.hz, 'x', true)) })).filter(({ x }) => isInside(chart, x))
  for (const { line, x } of placed) {
    ctx.globalAlpha = line.multiple > 1 ? 0.35 : 0.8
    ctx.lineWidth = devicePixelRatio
    ctx.setLineDash(line.multiple > 1 ? [2 * devicePixelRatio, 4 * devicePixelRatio] : [])
    vertical(chart, x)
  }
  ctx.globalAlpha = 1
  ctx.setLineDash([])
  for (const { line, x } of placed.filter((each) => each.line.multiple === 1).sort((one, other) => one.x - other.x)) {
    const name = drawnName(line)
    const width = ctx.measureText(name).width
    const left = Math.min(x + 3 * devicePixelRatio, bbox.left + bbox.width - width)
    const free = rows.findIndex((end) => end < left)
    const row = free < 0 ? rows.length : free
    if (row >= ROWS) continue
    rows[row] = left + width + 4 * devicePixelRatio
    const y = bbox.top - row * ROW * rem() * devicePixelRatio
    ctx.beginPath()
    ctx.moveTo(x, bbox.top)
    ctx.lineTo(x, y - size)
    ctx.stroke()
    ctx.fillText(name, left, y)
  }
  ctx.restore()
}

/** The cursor, its harmonics with their numbers, and its sidebands. */
export function drawCursor(chart: uPlot, marks: readonly number[], sidebands: readonly number[]): void {
  const { ctx, bbox } = chart
  ctx.save()
  ctx.strokeStyle = colour('text')
  ctx.fillStyle = colour('text')
  ctx.font = `600 ${0.72 * rem() * devicePixelRatio}px sans-serif`
  ctx.textAlign = 'left'
  ctx.textBaseline = 'bottom'
  marks.forEach((hz, index) => {
    const x = Math.round(chart.valToPos(hz, 'x', true))
    if (!isInside(chart, x)) return
    ctx.lineWidth = (index ? 1 : 1.6) * devicePixelRatio
    ctx.setLineDash(index ? [5 * devicePixelRatio, 3 * devicePixelRatio] : [])
    vertical(chart, x)
    if (index) ctx.fillText(`${index + 1}×`, x + 3 * devicePixelRatio, bbox.top + bbox.height - 2)
  })
  ctx.strokeStyle = colour('lost')
  ctx.setLineDash([devicePixelRatio, 3 * devicePixelRatio])
  for (const hz of sidebands) {
    const x = Math.round(chart.valToPos(hz, 'x', true))
    if (isInside(chart, x)) vertical(chart, x)
  }
  ctx.restore()
}
