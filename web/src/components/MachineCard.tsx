import { memo } from 'react'
import type { MachineStatus } from '../api/types'
import { lastSound } from '../lib/lastSound'
import { plural, score } from '../lib/numbers'
import { outlookText } from '../lib/outlook'
import { link } from '../lib/route'
import { KIND_NAMES, mutedUntil, STATE_NAMES, stateSentence } from '../lib/states'
import { duration, moment } from '../lib/time'
import { Gauge } from './Gauge'
import { Progress } from './Progress'
import { Sparkline } from './Sparkline'
import { StateBadge } from './StateBadge'

interface Props {
  machine: MachineStatus
  zone: string
  /** Updated every 15 seconds, so that a card without changes is not rendered. */
  now: number
  speed: number
}

function Middle({ machine }: { machine: MachineStatus }) {
  if (machine.state === 'learning' && machine.learning)
    return <Progress seconds={machine.learning.seconds} target={machine.learning.target_seconds} />
  if (machine.state === 'lost') return <p className="plain">{machine.source.message}</p>
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
  return plural(machine.ongoing_events, 'active event')
}

/** The card in one phrase, for screen readers. */
function spokenText(machine: MachineStatus, muted: boolean, late: string): string {
  const parts = [machine.name || machine.id, machine.site, STATE_NAMES[machine.state]]
  if (machine.smoothed !== null) parts.push(`score ${score(machine.smoothed)}`)
  if (machine.ongoing_events) parts.push(activeEvents(machine))
  if (machine.question) parts.push('is it healthy?')
  if (muted) parts.push('muted')
  parts.push(late)
  return parts.filter(Boolean).join(', ')
}

export const MachineCard = memo(function MachineCard({ machine, zone, now, speed }: Props) {
  const late = lastSound(machine, now, speed)
  const last = machine.last_event
  const until = mutedUntil(machine, now)
  const outlook = outlookText(machine.outlook, now)
  return (
    <li className={`card state-${machine.state}${until === null ? '' : ' muted'}`}>
      <header>
        <div>
          <h2>
            <a href={link('machine', machine.id)} aria-label={spokenText(machine, until !== null, late)}>
              {machine.name || machine.id}
            </a>
          </h2>
          <p className="site">{machine.site || machine.id}</p>
        </div>
        <StateBadge state={machine.state} />
      </header>
      <div className="middle">
        <Middle machine={machine} />
      </div>
      <footer>
        <span>
          {STATE_NAMES[machine.state]} for {duration(now - machine.state_since)}
        </span>
        <span className="tags">
          {machine.ongoing_events > 0 && <span className="tag open">{activeEvents(machine)}</span>}
          {machine.question && <span className="tag open state-alert">Is it healthy?</span>}
          {outlook && <span className="tag">{outlook}</span>}
          {late && <span className="tag">{late}</span>}
          {until !== null && <span className="tag">Muted until {moment(until, now, zone)}</span>}
          {machine.drift && <span className="tag">{KIND_NAMES.drift}</span>}
        </span>
        <span className="last">{last ? `Last event ${duration(now - last.began)} ago` : 'No events yet'}</span>
      </footer>
    </li>
  )
})
