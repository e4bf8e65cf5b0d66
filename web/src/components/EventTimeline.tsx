import type { MachineEvent } from '../api/types'
import { score } from '../lib/numbers'
import { duration, stamp } from '../lib/time'

interface Step {
  at: number | null
  title: string
  text?: string
}

function steps(event: MachineEvent): Step[] {
  const past: Step[] = [{ at: event.began, title: 'Began', text: event.message }]
  if (event.acknowledged) past.push({ at: event.acknowledged.at, title: `Acknowledged by ${event.acknowledged.who}` })
  if (event.ended !== null)
    past.push({ at: event.ended, title: 'Over', text: `after ${duration(event.ended - event.began)}, peak score ${score(event.peak)}` })
  event.comments.forEach((comment) => past.push({ at: comment.at, title: `Comment by ${comment.who}`, text: comment.text }))
  past.sort((a, b) => (a.at ?? Infinity) - (b.at ?? Infinity))
  if (event.ended === null) past.push({ at: null, title: 'Still active' })
  if (!event.acknowledged) past.push({ at: null, title: 'Waiting for acknowledgement' })
  return past
}

/** What happened to the event, when and by whom. */
export function EventTimeline({ event, zone }: { event: MachineEvent; zone: string }) {
  return (
    <ol className="timeline">
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
