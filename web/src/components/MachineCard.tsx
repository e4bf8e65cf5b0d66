import { memo } from 'react'
import type { Machine } from '../api/types'
import { lastSound } from '../lib/lastSound'
import { plural, score } from '../lib/numbers'
import { link } from '../lib/route'
import { STATE_WORDS, standing } from '../lib/states'
import { duration, moment } from '../lib/time'
import { Gauge } from './Gauge'
import { Progress } from './Progress'
import { Spark } from './Spark'
import { StateBadge } from './StateBadge'

interface Props {
  machine: Machine
  zone: string
  /** To the minute, so that a card that did not change is not drawn anew. */
  now: number
  speed: number
}

function Middle({ machine }: { machine: Machine }) {
  if (machine.state === 'learning' && machine.learning)
    return <Progress done={machine.learning.seconds} wanted={machine.learning.wanted} />
  if (machine.state === 'lost') return <p className="plain">{machine.source.words}</p>
  if (machine.score === null) return <p className="plain">{standing(machine)}</p>
  return (
    <>
      <Spark spark={machine.spark} limits={machine.thresholds} />
      <Gauge value={machine.score} limits={machine.thresholds} />
    </>
  )
}

/** Not those to acknowledge, which may be over. */
function goingOn(machine: Machine): string {
  return plural(machine.open_events, 'event goes on', 'events go on')
}

/** The card in a breath, for those who hear it. */
function spoken(machine: Machine, quiet: string): string {
  const parts = [machine.name || machine.id, machine.site, STATE_WORDS[machine.state]]
  if (machine.score !== null) parts.push(`score ${score(machine.score)}`)
  if (machine.open_events) parts.push(goingOn(machine))
  if (machine.muted_until) parts.push('muted')
  parts.push(quiet)
  return parts.filter(Boolean).join(', ')
}

export const MachineCard = memo(function MachineCard({ machine, zone, now, speed }: Props) {
  const quiet = lastSound(machine, now, speed)
  const last = machine.last_event
  return (
    <li className={`card state-${machine.state}${machine.muted_until ? ' muted' : ''}`}>
      <header>
        <div>
          <h2>
            <a href={link('machine', machine.id)} aria-label={spoken(machine, quiet)}>
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
        <span>for {duration(now - machine.state_since)}</span>
        <span className="tags">
          {machine.open_events > 0 && <span className="tag open">{goingOn(machine)}</span>}
          {quiet && <span className="tag">{quiet}</span>}
          {machine.muted_until && <span className="tag">Muted until {moment(machine.muted_until, now, zone)}</span>}
          {machine.drift && <span className="tag">Slow change</span>}
        </span>
        <span className="last">{last ? `Last event ${duration(now - last.began)} ago` : 'No event yet'}</span>
      </footer>
    </li>
  )
})
