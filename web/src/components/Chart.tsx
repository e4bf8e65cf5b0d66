import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { useLanguage } from '../i18n/language'
import { colour, rem, useTheme } from '../lib/theme'
import { axisLabel } from '../lib/time'
import { useWidth } from '../lib/useSize'

export function axisStyle() {
  const line = { stroke: colour('line'), width: 1 }
  // uPlot accepts whole pixels only.
  return { stroke: colour('text-soft'), font: `${Math.round(0.78 * rem())}px sans-serif`, grid: line, ticks: line }
}

/** A time axis in the time zone of the service. */
export function timeAxis(zone: string): uPlot.Axis {
  return {
    ...axisStyle(),
    size: 2.4 * rem(),
    space: 4.6 * rem(),
    values: (_, splits, __, ___, step) => splits.map((time) => axisLabel(time, step, zone)),
  }
}

/** A series of points that are not joined. */
export function dots(): uPlot.Series {
  return { paths: () => null, points: { show: true, size: 6, width: 0, fill: colour('series'), stroke: colour('series') } }
}

interface Props {
  /** Used when the chart is created, and again when `version`, the theme or the language changes. */
  options: (width: number) => Omit<uPlot.Options, 'width' | 'height'>
  version: string
  data: uPlot.AlignedData
  /** In rem. */
  height: number
  summary: string
}

/** uPlot inside React; the summary says the same to screen readers. */
export function Chart({ options, version, data, height, summary }: Props) {
  const holder = useRef<HTMLDivElement>(null)
  const chart = useRef<uPlot | null>(null)
  const latest = useRef({ options, data })
  const width = useWidth(holder)
  const theme = useTheme()
  const language = useLanguage()
  useEffect(() => {
    latest.current = { options, data }
  })
  useEffect(() => {
    if (!holder.current || width === 0) return
    const created = new uPlot({ ...latest.current.options(width), width, height: height * rem() }, latest.current.data, holder.current)
    chart.current = created
    return () => {
      created.destroy()
      chart.current = null
    }
  }, [width, height, version, theme, language])
  useEffect(() => {
    chart.current?.setData(data)
  }, [data])
  return (
    <figure className="chart">
      <div ref={holder} className="plot" aria-hidden="true" style={{ height: `${height}rem` }} />
      <figcaption>{summary}</figcaption>
    </figure>
  )
}
