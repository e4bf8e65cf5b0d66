import { useEffect, useMemo, useRef, type KeyboardEvent } from 'react'
import type uPlot from 'uplot'
import { drawCursor, drawLines, NAMES_HEIGHT } from '../lib/frequencyMarks'
import { harmonicsOf, levelAt, nextPeak, peakNear, sidebandsOf, type DrawnLine, type Levels } from '../lib/diagnosis'
import { t } from '../i18n'
import { figures } from '../lib/numbers'
import { colour, rem } from '../lib/theme'
import { axisStyle, Chart } from './Chart'

/** Pixels around a click in which the highest level is meant. */
const REACH = 6

interface Props {
  /** Of the cursor, for screen readers. */
  label: string
  now: Levels
  /** Empty where there are none. */
  normal: readonly number[]
  sibling: Levels | null
  lines: readonly DrawnLine[]
  /** Hz; null: there is none. */
  cursor: number | null
  onCursor: (hz: number) => void
  showsHarmonics: boolean
  /** Hz between sidebands of the cursor; 0: none are drawn. */
  sidebandHz: number
  readout: string
  summary: string
}

/** A spectrum over evenly spaced frequencies, with a cursor for mouse, touch and keyboard. */
export function FrequencyChart({ label, now, normal, sibling, lines, cursor, onCursor, showsHarmonics, sidebandHz, readout, summary }: Props) {
  const chart = useRef<uPlot | null>(null)
  const { spacing, levels } = now
  const maxHz = (levels.length - 1) * spacing
  const latest = useRef({ now, lines, cursor, onCursor, marks: [] as number[], sidebands: [] as number[] })
  latest.current = {
    now,
    lines,
    cursor,
    onCursor,
    marks: cursor === null ? [] : showsHarmonics ? harmonicsOf(cursor, maxHz) : [cursor],
    sidebands: cursor === null ? [] : sidebandsOf(cursor, sidebandHz, maxHz),
  }
  const data = useMemo<uPlot.AlignedData>(
    () => [
      levels.map((_, index) => index * spacing),
      normal.length ? [...normal] : levels.map(() => null),
      levels.map((_, index) => (sibling ? levelAt(sibling, index * spacing) : null)),
      [...levels],
    ],
    [levels, spacing, normal, sibling],
  )
  useEffect(() => chart.current?.redraw(false), [cursor, lines, showsHarmonics, sidebandHz])
  const options = (): Omit<uPlot.Options, 'width' | 'height'> => {
    const axis = axisStyle()
    const none = { show: false }
    return {
      legend: none,
      padding: [((lines.length ? NAMES_HEIGHT : 0) + 0.2) * rem(), null, null, null],
      cursor: none,
      scales: { x: { time: false, range: (_, low, high) => [low, high] } },
      axes: [
        { ...axis, size: 2.4 * rem(), values: (_, splits) => splits.map((hz) => `${figures(hz, 5)} Hz`), space: 5 * rem() },
        { ...axis, size: 4 * rem(), values: (_, splits) => splits.map((value) => `${value} dB`) },
      ],
      series: [
        {},
        { stroke: colour('normal'), width: 1, points: none },
        { stroke: colour('lost'), width: 1, points: none },
        { stroke: colour('series'), width: 1.2, points: none },
      ],
      hooks: {
        ready: [
          (created) => {
            chart.current = created
            const place = (event: PointerEvent) => {
              const box = created.over.getBoundingClientRect()
              const hz = created.posToVal(event.clientX - box.left, 'x')
              const { now: shown, onCursor: move } = latest.current
              const perPixel = (shown.levels.length * shown.spacing) / box.width
              move(peakNear(shown, hz, Math.round((REACH * perPixel) / shown.spacing)))
            }
            created.over.addEventListener('pointerdown', place)
            created.over.addEventListener('pointermove', (event) => {
              if (event.buttons) place(event)
            })
          },
        ],
        destroy: [() => (chart.current = null)],
        draw: [
          (drawn) => {
            drawLines(drawn, latest.current.lines)
            drawCursor(drawn, latest.current.marks, latest.current.sidebands)
          },
        ],
      },
    }
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const at = cursor ?? 0
    const step = spacing * (event.shiftKey ? 10 : 1)
    const to = {
      ArrowRight: at + step,
      ArrowUp: at + step,
      ArrowLeft: at - step,
      ArrowDown: at - step,
      PageUp: nextPeak(now, at, 1),
      PageDown: nextPeak(now, at, -1),
      Home: 0,
      End: maxHz,
    }[event.key]
    if (to === undefined) return
    event.preventDefault()
    onCursor(Math.min(maxHz, Math.max(0, Math.round(to / spacing) * spacing)))
  }
  return (
    <div
      className="frequency-chart"
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={Math.round(maxHz)}
      aria-valuenow={Number((cursor ?? 0).toFixed(2))}
      aria-valuetext={cursor === null ? t('diagnosis.noCursor') : readout}
      onKeyDown={onKeyDown}
    >
      <Chart options={options} version={`${spacing} ${levels.length} ${lines.length > 0}`} data={data} height={16} summary={summary} />
    </div>
  )
}
