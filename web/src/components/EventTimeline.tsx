import type { MachineEvent } from '../api/types'
import { t } from '../i18n'
import { score } from '../lib/numbers'
import { said, translated } from '../lib/sentences'
import { duration, stamp } from '../lib/time'

interface Step {
  at: number | null
  title: string
  text?: string
}

function steps(event: MachineEvent): Step[] {
  // What has changed has a panel of its own.
  const past: Step[] = [{ at: event.began, title: t('event.steps.began'), text: event.findings.length ? '' : said(event) }]
  if (event.acknowledged) past.push({ at: event.acknowledged.at, title: t('event.steps.acknowledged', { who: event.acknowledged.who }) })
  if (event.ended !== null)
    past.push({
      at: event.ended,
      title: t('event.steps.over'),
      text: t('event.steps.overAfter', { duration: duration(event.ended - event.began), score: score(event.peak) }),
    })
  event.comments.forEach((comment) => past.push({ at: comment.at, title: t('event.steps.comment', { who: comment.who }), text: translated(comment.text, comment.sentence) }))
  past.sort((a, b) => (a.at ?? Infinity) - (b.at ?? Infinity))
  if (event.ended === null) past.push({ at: null, title: t('event.steps.active') })
  if (!event.acknowledged) past.push({ at: null, title: t('event.steps.waiting') })
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
