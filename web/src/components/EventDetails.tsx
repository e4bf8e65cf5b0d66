import { useEffect, useState, type FormEvent } from 'react'
import type { EventSuggestions, MachineEvent } from '../api/types'
import { post, put, url } from '../api/client'
import { useFetched } from '../api/useFetched'
import { useHasRole } from '../api/useLive'
import { t } from '../i18n'
import { rich } from '../i18n/rich'
import { percent } from '../lib/numbers'
import { link } from '../lib/route'
import { useAction } from '../lib/useAction'
import { ErrorMessage } from './ErrorMessage'
import { Panel } from './Panel'
import { RequiresRole } from './RequiresRole'

interface Props {
  event: MachineEvent
  onChange: (event: MachineEvent) => void
}

/** What an event was: the name of its fault, its cause and its work order. */
export function EventDetails({ event, onChange }: Props) {
  const isOperator = useHasRole('operator')
  return (
    <Panel title={t('history.details.title')}>
      {event.looks_like && !event.fault && <LooksLike event={event} onChange={onChange} />}
      {isOperator ? <DetailsForm event={event} onChange={onChange} /> : <Details event={event} />}
      <RequiresRole role="operator" sentence="history.details.needsRole" />
    </Panel>
  )
}

/** A fault that was named before: right or wrong. */
function LooksLike({ event, onChange }: Props) {
  const isOperator = useHasRole('operator')
  const { run, busy, error } = useAction()
  const alike = event.looks_like
  if (!alike) return null
  const judge = (right: boolean) =>
    void run(async () => onChange(await post<MachineEvent>(url(`events/${event.id}/recognition`), { right })))
  return (
    <div className="offer">
      <p>
        {rich(
          'history.details.looksLike',
          { strong: (text) => <strong>{text}</strong> },
          { fault: alike.fault, count: alike.earlier_events, similarity: percent(alike.similarity) },
        )}{' '}
        <a href={link('events', '', { fault: alike.fault })}>{t('history.details.earlier')}</a>
      </p>
      {isOperator && (
        <div className="buttons">
          <button type="button" className="main" disabled={busy} onClick={() => judge(true)}>
            {t('history.details.right')}
          </button>
          <button type="button" disabled={busy} onClick={() => judge(false)}>
            {t('history.details.wrong')}
          </button>
        </div>
      )}
      <ErrorMessage message={error} />
    </div>
  )
}

/** For those who may only read. */
function Details({ event }: { event: MachineEvent }) {
  const given: [string, string][] = [
    [t('history.details.fault'), event.fault],
    [t('history.details.cause'), event.cause],
    [t('history.details.workOrder'), event.work_order],
  ]
  return (
    <dl className="figures">
      {given
        .filter(([, text]) => text)
        .map(([name, text]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{text}</dd>
          </div>
        ))}
    </dl>
  )
}

function DetailsForm({ event, onChange }: Props) {
  const suggestions = useFetched<EventSuggestions>(url('events/suggestions')).content
  const { run, busy, error } = useAction()
  const [fault, setFault] = useState(event.fault)
  const [cause, setCause] = useState(event.cause)
  const [workOrder, setWorkOrder] = useState(event.work_order)
  const [isSaved, setSaved] = useState(false)
  // Someone else may have changed them, or confirmed what was recognised.
  useEffect(() => setFault(event.fault), [event.fault])
  useEffect(() => setCause(event.cause), [event.cause])
  useEffect(() => setWorkOrder(event.work_order), [event.work_order])
  const details = { fault: fault.trim(), cause: cause.trim(), work_order: workOrder.trim() }
  const isChanged = details.fault !== event.fault || details.cause !== event.cause || details.work_order !== event.work_order
  const submit = (submitted: FormEvent) => {
    submitted.preventDefault()
    void run(async () => onChange(await put<MachineEvent>(url(`events/${event.id}/details`), details))).then(setSaved)
  }
  return (
    <form onSubmit={submit} onChange={() => setSaved(false)}>
      <label>
        {t('history.details.fault')}
        <input list="earlier-faults" maxLength={200} value={fault} onChange={(change) => setFault(change.target.value)} />
        <span className="plain">{t('history.details.faultHint')}</span>
      </label>
      <label>
        {t('history.details.cause')}
        <input list="earlier-causes" maxLength={1000} value={cause} onChange={(change) => setCause(change.target.value)} />
      </label>
      <label>
        {t('history.details.workOrder')}
        <input maxLength={200} value={workOrder} onChange={(change) => setWorkOrder(change.target.value)} />
      </label>
      <datalist id="earlier-faults">
        {suggestions?.faults.map((text) => <option key={text} value={text} />)}
      </datalist>
      <datalist id="earlier-causes">
        {suggestions?.causes.map((text) => <option key={text} value={text} />)}
      </datalist>
      <ErrorMessage message={error} />
      <div className="buttons">
        <button type="submit" disabled={busy || !isChanged}>
          {t('history.details.save')}
        </button>
        <span role="status">{isSaved && !isChanged ? t('history.details.saved') : ''}</span>
      </div>
    </form>
  )
}
