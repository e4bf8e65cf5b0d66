import { useState } from 'react'
import type { MachineEvent } from '../api/types'
import { post, url } from '../api/client'
import { useHasRole } from '../api/useLive'
import { t } from '../i18n'
import { rich } from '../i18n/rich'
import { useShortcut } from '../lib/shortcuts'
import { useAction } from '../lib/useAction'
import { EventLabels } from './EventLabels'
import { RequiresRole } from './RequiresRole'
import { ErrorMessage } from './ErrorMessage'

/** Acknowledge, comment and label an event. */
export function EventActions({ event, onChange }: { event: MachineEvent; onChange: (event: MachineEvent) => void }) {
  const isOperator = useHasRole('operator')
  const { run, busy, error } = useAction()
  const [text, setText] = useState('')
  const send = (what: string, body: unknown) =>
    run(async () => onChange(await post<MachineEvent>(url(`events/${event.id}/${what}`), body)))
  const isActive = event.state === 'active'
  const acknowledge = () =>
    send('acknowledge', { comment: text.trim() }).then((done) => {
      if (done) setText('')
    })
  const comment = () =>
    send('comment', { text: text.trim() }).then((done) => {
      if (done) setText('')
    })
  useShortcut('a', isOperator && isActive && !busy ? () => void acknowledge() : null)
  if (!isOperator) return <RequiresRole role="operator" sentence="event.needsRole" />
  return (
    <div className="actions">
      <label>
        {t('event.comment')}
        <textarea
          rows={2}
          value={text}
          placeholder={t('event.commentExample')}
          onChange={(change) => setText(change.target.value)}
        />
      </label>
      <div className="buttons">
        {isActive && (
          <button type="button" className="main" disabled={busy} onClick={() => void acknowledge()}>
            {rich('event.acknowledge', { kbd: (key) => <kbd>{key}</kbd> })}
          </button>
        )}
        <button type="button" disabled={busy || !text.trim()} onClick={() => void comment()}>
          {t('event.addComment')}
        </button>
      </div>
      <EventLabels event={event} onChange={onChange} />
      <ErrorMessage message={error} />
    </div>
  )
}
