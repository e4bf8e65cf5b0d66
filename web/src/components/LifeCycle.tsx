import type { MachineEvent } from '../api/types'
import { score } from '../lib/numbers'
import { duration, stamp } from '../lib/time'

interface Step {
  at: number | null
  title: string
  text?: string
}

function steps(event: MachineEvent): Step[] {
  const known: Step[] = [{ at: event.began, title: 'Began', text: event.words }]
  if (event.acknowledged) known.push({ at: event.acknowledged.at, title: `Acknowledged by ${event.acknowledged.who}` })
  if (event.ended !== null)
    known.push({ at: event.ended, title: 'Over', text: `after ${duration(event.ended - event.began)}, peak ${score(event.peak)}` })
  event.comments.forEach((comment) => known.push({ at: comment.at, title: comment.who, text: comment.text }))
  known.sort((a, b) => (a.at ?? Infinity) - (b.at ?? Infinity))
  if (event.ended === null) known.push({ at: null, title: 'Still going on' })
  if (!event.acknowledged) known.push({ at: null, title: 'Waits for someone to acknowledge it' })
  return known
}

/** What happened to the event, when and by whom. */
export function LifeCycle({ event, zone }: { event: MachineEvent; zone: string }) {
  return (
    <ol className="life">
      {steps(event).map((step, index) => (
        <li key={index} className={step.at === null ? 'waiting' : ''}>
          {step.at !== null && <time dateTime={new Date(step.at * 1000).toISOString()}>{stamp(step.at, zone)}</time>}
          <strong>{step.title}</strong>
          {step.text && <span>{step.text}</span>}
        </li>
      ))}
    </ol>
  )
}
