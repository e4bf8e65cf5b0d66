import { useContext, useEffect, useState } from 'react'
import type { MachineEvent, MachineStatus } from '../api/types'
import { LiveContext, useLive, useTimezone } from '../api/useLive'
import { useNotes } from '../api/useNotes'
import { useTrend } from '../api/useTrend'
import { t } from '../i18n'
import { duration } from '../lib/time'
import { hasScores } from '../lib/trend'
import { BandChart } from './BandChart'
import { ChangePoints } from './ChangePoints'
import { EmptyState } from './EmptyState'
import { ErrorMessage } from './ErrorMessage'
import { Notes } from './Notes'
import { Panel } from './Panel'
import { TrendChart } from './TrendChart'

/** Names below trend.spans, and seconds. */
const SPANS: readonly [string, number][] = [
  ['minutes', 600],
  ['hour', 3600],
  ['day', 86_400],
  ['week', 7 * 86_400],
  ['month', 30 * 86_400],
  ['year', 365 * 86_400],
]
const SHORTEST = 60
const LONGEST = 10 * 365 * 86_400

/** Scores from a minute to a year; follows the present until someone zooms or moves. */
export function TrendPanel({ machine, events }: { machine: MachineStatus; events: MachineEvent[] }) {
  const zone = useTimezone()
  const { clock } = useContext(LiveContext)
  const { reconnects } = useLive()
  const [chosen, setChosen] = useState(600)
  const [[from, to], setRange] = useState(() => [clock.now() - chosen, clock.now()] as const)
  const [isFollowing, setFollowing] = useState(true)
  const span = to - from
  const { trend, end, error } = useTrend(machine.id, from, to, isFollowing)
  const begin = end - span
  const show = (first: number, last: number, follow: boolean) => {
    const seconds = Math.min(LONGEST, Math.max(SHORTEST, last - first))
    const until = Math.min(last, clock.now())
    setRange([until - seconds, until])
    setFollowing(follow)
  }
  const follow = (seconds: number) => show(clock.now() - seconds, clock.now(), true)
  const choose = (seconds: number) => {
    setChosen(seconds)
    follow(seconds)
  }
  // What happened while there was no connection was not in the stream.
  useEffect(() => {
    if (reconnects && isFollowing) follow(span)
  }, [reconnects])
  const notes = useNotes(machine.id)
  const middle = end - span / 2
  const changes = machine.change_points.filter(({ time }) => time >= begin && time <= end)
  const inside = events.filter((event) => event.began < end && (event.ended ?? end) > begin)
  return (
    <Panel
      title={t('trend.title')}
      className="wide"
      aside={
        <div className="buttons">
          {SPANS.map(([name, seconds]) => (
            <button
              key={name}
              type="button"
              aria-pressed={Math.abs(span - seconds) < 1}
              onClick={() => choose(seconds)}
            >
              {t(`trend.spans.${name}`)}
            </button>
          ))}
          <span className="group">
            <button type="button" aria-label={t('trend.earlier')} onClick={() => show(begin - span / 2, end - span / 2, false)}>
              ‹
            </button>
            <button type="button" aria-label={t('trend.zoomIn')} onClick={() => show(middle - span / 4, middle + span / 4, false)}>
              +
            </button>
            <button type="button" aria-label={t('trend.zoomOut')} onClick={() => show(middle - span, middle + span, false)}>
              −
            </button>
            <button type="button" aria-label={t('trend.later')} onClick={() => show(begin + span / 2, end + span / 2, false)}>
              ›
            </button>
          </span>
          <button type="button" aria-pressed={isFollowing} onClick={() => follow(span)}>
            {t('trend.followLive')}
          </button>
        </div>
      }
    >
      <ErrorMessage message={error} />
      {/* Without thresholds an empty chart means nothing; with them one can move to where there are scores. */}
      {trend && !hasScores(trend) && !machine.thresholds ? (
        <EmptyState title={t('trend.noScores')}>
          {inside.length > 0 && <p>{t('trend.eventsBelow', { count: inside.length })}</p>}
          <p>{t('trend.scoresBegin')}</p>
        </EmptyState>
      ) : trend ? (
        <TrendChart
          trend={trend}
          range={[begin, end]}
          thresholds={machine.thresholds}
          events={inside}
          changes={changes}
          notes={notes.all}
          atIntervals={machine.sensor?.at_intervals ?? false}
          zone={zone}
          onZoom={(first, last) => show(first, last, false)}
          onReset={() => choose(chosen)}
        />
      ) : (
        <p className="plain">{t('trend.loading', { duration: duration(span) })}</p>
      )}
      <ChangePoints changes={changes} zone={zone} />
      <Notes machine={machine} notes={notes} range={[begin, end]} zone={zone} />
      <BandChart machine={machine} range={[from, to]} isFollowing={isFollowing} zone={zone} />
    </Panel>
  )
}
