import { useState } from 'react'
import type { MachineStatus, Note } from '../api/types'
import { post, put, remove, url } from '../api/client'
import { useHasRole, useLive } from '../api/useLive'
import type { MachineNotes } from '../api/useNotes'
import { t } from '../i18n'
import { useReturnFocus } from '../lib/focus'
import { NOTE_KINDS } from '../lib/notes'
import { date } from '../lib/time'
import { useAction } from '../lib/useAction'
import { BASELINE } from './BaselinePanel'
import { ConfirmButton } from './ConfirmButton'
import { ErrorMessage } from './ErrorMessage'
import { NoteForm, type NoteFields } from './NoteForm'
import { RequiresRole } from './RequiresRole'

interface Props {
  machine: MachineStatus
  notes: MachineNotes
  range: [number, number]
  zone: string
}

/** What people noted in the time range of the trend, and a form for one more. */
export function Notes({ machine, notes, range: [begin, end], zone }: Props) {
  const isOperator = useHasRole('operator')
  const isAdmin = useHasRole('admin')
  const { service } = useLive()
  const [edited, setEdited] = useState<Note | 'new' | null>(null)
  const [wasRepaired, setRepaired] = useState(false)
  const action = useAction()
  const add = useReturnFocus<HTMLButtonElement>(edited === 'new')
  const edit = useReturnFocus<HTMLButtonElement>(edited !== null && edited !== 'new')
  const shown = notes.all.filter(({ at }) => at >= begin && at <= end)
  const outside = notes.all.length - shown.length
  const address = url(`machines/${machine.id}/notes`)
  const save = async (fields: NoteFields) => {
    if (edited === 'new') await post(address, fields)
    else if (edited) await put(`${address}/${edited.id}`, fields)
    setRepaired(edited === 'new' && fields.kind === 'repair')
    setEdited(null)
    notes.refetch()
  }
  return (
    <section className="notes" aria-label={t('history.notes.title')}>
      <h3>{t('history.notes.title')}</h3>
      <ErrorMessage message={notes.error || action.error} />
      {shown.length > 0 && (
        <ul>
          {shown.map((note) => (
            <li key={note.id}>
              <span className={`note-mark ${note.kind}`} aria-hidden="true" />
              <div>
                <p>
                  <strong>{NOTE_KINDS[note.kind]}</strong> {note.text}
                </p>
                <p className="soft">{t('history.notes.written', { time: date(note.at, zone), who: note.who })}</p>
              </div>
              {isOperator && (
                <div className="buttons">
                  <button
                    type="button"
                    aria-label={t('history.notes.editNote', { text: note.text })}
                    onClick={(event) => {
                      edit.current = event.currentTarget
                      setEdited(note)
                    }}
                  >
                    {t('history.notes.edit')}
                  </button>
                  <ConfirmButton
                    title={t('history.notes.remove')}
                    label={t('history.notes.removeNote', { text: note.text })}
                    question={t('history.notes.removeQuestion')}
                    confirm={t('history.notes.remove')}
                    action={action}
                    work={() => remove(`${address}/${note.id}`).then(notes.refetch)}
                  />
                </div>
              )}
            </li>
          ))}
        </ul>
      )}
      {outside > 0 && <p className="plain">{t('history.notes.outside', { count: outside })}</p>}
      {edited ? (
        <NoteForm
          key={edited === 'new' ? 'new' : edited.id}
          note={edited === 'new' ? null : edited}
          now={Math.min(end, service?.now ?? end)}
          zone={zone}
          onSave={save}
          onCancel={() => setEdited(null)}
        />
      ) : (
        isOperator && (
          <button ref={add} type="button" onClick={() => setEdited('new')}>
            {t('history.notes.add')}
          </button>
        )
      )}
      <div role="status">
        {wasRepaired && isAdmin && (
          <p className="offer">
            {t('history.notes.repaired')}{' '}
            <button type="button" onClick={() => document.getElementById(BASELINE)?.focus()}>
              {t('history.notes.learn')}
            </button>
          </p>
        )}
      </div>
      <RequiresRole role="operator" sentence="history.notes.needsRole" />
    </section>
  )
}
