import { memo, type Ref } from 'react'
import type { MachineStatus } from '../api/types'
import { useIsStale } from '../api/useFreshness'
import { listed, t } from '../i18n'
import { useLanguage } from '../i18n/language'
import { lastSound } from '../lib/lastSound'
import { outlookText } from '../lib/outlook'
import { link } from '../lib/route'
import { scoreText } from '../lib/scores'
import { KIND_NAMES, mutedUntil, STATE_NAMES, stateSentence } from '../lib/states'
import { duration, moment } from '../lib/time'
import { Gauge } from './Gauge'
import { Progress } from './Progress'
import { Sparkline } from './Sparkline'
import { CurrentState, LastData } from './LastData'
import { said } from '../lib/sentences'

export interface CardProps {
  machine: MachineStatus
  zone: string
  /** Updated every 15 seconds, so that a card without changes is not rendered. */
  now: number
  speed: number
}

function Middle({ machine }: { machine: MachineStatus }) {
  if (machine.state === 'learning' && machine.learning)
    return <Progress seconds={machine.learning.seconds} target={machine.learning.target_seconds} />
  if (machine.state === 'lost') return <p className="plain">{said(machine.source)}</p>
  if (machine.smoothed === null) return <p className="plain">{stateSentence(machine)}</p>
  return (
    <>
      <Sparkline scores={machine.recent_scores} thresholds={machine.thresholds} atIntervals={machine.sensor?.at_intervals ?? false} />
      <Gauge value={machine.smoothed} thresholds={machine.thresholds} />
    </>
  )
}

/** Not those to acknowledge, which may be over. */
function activeEvents(machine: MachineStatus): string {
  return t('overview.activeEvents', { count: machine.ongoing_events })
}

/** The card in one phrase, for screen readers. */
function spokenText(machine: MachineStatus, muted: boolean, late: string, stale: boolean): string {
  const parts = [machine.name || machine.id, machine.site, stale ? t('listen.noCurrentData') : STATE_NAMES[machine.state]]
  if (machine.smoothed !== null && !stale) parts.push(t('overview.score', { score: scoreText(machine.smoothed, machine.thresholds) }))
  if (machine.ongoing_events) parts.push(activeEvents(machine))
  if (machine.question) parts.push(t('overview.isItHealthySpoken'))
  if (muted) parts.push(t('overview.muted'))
  parts.push(late)
  return listed(parts)
}

export const MachineCard = memo(function MachineCard({ machine, zone, now, speed, ref }: CardProps & { ref: Ref<HTMLLIElement> }) {
  useLanguage() // drawn again in another language, though nothing it is given has changed
  const late = lastSound(machine, now, speed)
  const stale = useIsStale(machine)
  const last = machine.last_event
  const until = mutedUntil(machine, now)
  const outlook = outlookText(machine.outlook, now)
  return (
    <li ref={ref} className={`card state-${stale ? 'stale' : machine.state}${until === null ? '' : ' muted'}`}>
      <header>
        <div>
          <h2>
            <a href={link('machine', machine.id)} aria-label={spokenText(machine, until !== null, late, stale)}>
              {machine.name || machine.id}
            </a>
          </h2>
          <p className="site">{machine.site || machine.id}</p>
        </div>
        <CurrentState machine={machine} />
      </header>
      <div className="middle">
        {stale ? <p className="plain">{t('listen.lastKnown', { state: STATE_NAMES[machine.state] })}</p> : <Middle machine={machine} />}
      </div>
      <footer>
        {!stale && <span>{t('states.since', { state: STATE_NAMES[machine.state], duration: duration(now - machine.state_since) })}</span>}
        <span className="tags">
          {machine.ongoing_events > 0 && <span className="tag open">{activeEvents(machine)}</span>}
          {machine.question && <span className="tag open state-alert">{t('overview.isItHealthy')}</span>}
          {outlook && <span className="tag">{outlook}</span>}
          {late ? <span className="tag">{late}</span> : <LastData machine={machine} />}
          {until !== null && <span className="tag">{t('states.mutedUntil', { time: moment(until, now, zone) })}</span>}
          {machine.drift && <span className="tag">{KIND_NAMES.drift}</span>}
        </span>
        <span className="last">{last ? t('overview.lastEvent', { duration: duration(now - last.began) }) : t('overview.noEvents')}</span>
      </footer>
    </li>
  )
})
