import { useMemo, useRef, useState } from 'react'
import uPlot from 'uplot'
import type { Band, MachineStatus } from '../api/types'
import { useBandTrend } from '../api/useTrend'
import { t } from '../i18n'
import { bandName, bandText, mostChanged } from '../lib/bandTrend'
import { drawLevel, drawThreshold } from '../lib/chartMarks'
import { wholeSoundText } from '../lib/diagnosis'
import { decibels } from '../lib/numbers'
import { colour, rem } from '../lib/theme'
import { stamp } from '../lib/time'
import { withGaps } from '../lib/trend'
import { axisStyle, Chart, dots, timeAxis } from './Chart'
import { ErrorMessage } from './ErrorMessage'

interface Props {
  machine: MachineStatus
  /** As fetched; while it follows the present, the chart moves on. */
  range: readonly [number, number]
  isFollowing: boolean
  zone: string
}

/** Number of the whole sound, beside those of the bands. */
const WHOLE = -1

/** The level of the whole sound or of a band over the time of the trend; a band has its own thresholds. */
export function BandChart({ machine, range: [from, to], isFollowing, zone }: Props) {
  const [chosen, setChosen] = useState(() => (machine.bands.length ? mostChanged(machine.bands) : WHOLE))
  const [pointed, setPointed] = useState('')
  const { trend, end, error } = useBandTrend(machine.id, from, to, isFollowing)
  const atIntervals = machine.sensor?.at_intervals ?? false
  const band: Band | undefined = machine.bands[chosen]
  const latest = useRef({ band, range: [from, to] as [number, number] })
  latest.current = { band, range: [end - (to - from), end] }
  const data = useMemo((): uPlot.AlignedData => {
    if (!trend) return [[], []]
    const levels = chosen === WHOLE ? trend.level_dbfs : trend.levels.map((level) => level[chosen] ?? null)
    return atIntervals ? [trend.time, levels] : withGaps(trend.time, trend.seconds_per_point, [levels])
  }, [trend, chosen, atIntervals])

  const options = (): Omit<uPlot.Options, 'width' | 'height'> => ({
    legend: { show: false },
    tzDate: (time) => uPlot.tzDate(new Date(time * 1000), zone),
    cursor: { drag: { x: false, y: false }, points: { show: false } },
    scales: {
      x: { time: true, range: () => latest.current.range },
      y: {
        range: (_, low, high) => {
          if (!latest.current.band) return [(low ?? -60) - 3, (high ?? 0) + 3]
          const { usual_db, alarm_db } = latest.current.band
          return [Math.min(low ?? usual_db, usual_db) - 3, Math.max(high ?? alarm_db, alarm_db) + 3]
        },
      },
    },
    axes: [timeAxis(zone), { ...axisStyle(), size: 4 * rem(), values: (_, splits) => splits.map(decibels) }],
    series: [{}, atIntervals ? dots() : { stroke: colour('series'), width: 1.6, points: { show: false } }],
    hooks: {
      draw: [
        (chart) => {
          if (!latest.current.band) return
          const { usual_db, alert_db, alarm_db } = latest.current.band
          drawLevel(chart, usual_db, 'text-soft')
          drawThreshold(chart, alert_db, 'alert', decibels(alert_db))
          drawThreshold(chart, alarm_db, 'alarm', decibels(alarm_db))
        },
      ],
      setCursor: [
        (chart) => {
          const index = chart.cursor.idx
          const time = index === null || index === undefined ? undefined : chart.data[0][index]
          const level = index === null || index === undefined ? undefined : chart.data[1]?.[index]
          setPointed(time === undefined || level === null || level === undefined ? '' : `${stamp(time, zone)} · ${decibels(level)}`)
        },
      ],
    },
  })
  const now = band ? bandText(band) : ''
  const bandDescription = (shown: Band) =>
    now ? t('trend.bands.now', { band: bandName(shown), level: now }) : t('trend.bands.noLevelNow', { band: bandName(shown) })
  const description = band ? bandDescription(band) : wholeSoundText(machine.level_dbfs)
  return (
    <div className="band-trend">
      <div className="buttons apart">
        <label className="inline long-choice">
          {t('trend.bands.label')}{' '}
          <select value={chosen} onChange={(event) => setChosen(Number(event.target.value))}>
            <option value={WHOLE}>{t('diagnosis.wholeSound')}</option>
            {machine.bands.map((each, index) => (
              <option key={index} value={index}>
                {bandText(each) ? t('trend.bands.option', { band: bandName(each), level: bandText(each) }) : bandName(each)}
              </option>
            ))}
          </select>
        </label>
        <span className="pointed" aria-hidden="true">
          {pointed || (band && t('trend.bands.usualLine'))}
        </span>
      </div>
      <ErrorMessage message={error} />
      <Chart
        options={options}
        version={`${zone} ${chosen} ${band?.alarm_db} ${band?.alert_db} ${atIntervals}`}
        data={data}
        height={10}
        summary={trend && !trend.time.length ? t('trend.bands.noLevels') : description}
      />
    </div>
  )
}
