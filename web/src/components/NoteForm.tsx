import { useState, type FormEvent } from 'react'
import type { Note, NoteKind } from '../api/types'
import { t } from '../i18n'
import { NOTE_KINDS } from '../lib/notes'
import { fromInput, toInput } from '../lib/time'
import { useAction } from '../lib/useAction'
import { ErrorMessage } from './ErrorMessage'

export interface NoteFields {
  at: number
  kind: NoteKind
  text: string
}

interface Props {
  /** Null: a new one. */
  note: Note | null
  /** The time of a new one, unless another is chosen. */
  now: number
  zone: string
  onSave: (fields: NoteFields) => Promise<void>
  onCancel: () => void
}

/** When something happened to a machine, what kind of thing, and what. */
export function NoteForm({ note, now, zone, onSave, onCancel }: Props) {
  const [time, setTime] = useState(() => toInput(note?.at ?? now, zone))
  const [kind, setKind] = useState<NoteKind>(note?.kind ?? 'repair')
  const [text, setText] = useState(note?.text ?? '')
  const { run, busy, error } = useAction()
  const at = fromInput(time, zone)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (at !== null) void run(() => onSave({ at, kind, text: text.trim() }))
  }
  return (
    <form className="note-form" onSubmit={submit} aria-label={t('history.notes.add')}>
      <div className="buttons">
        <label>
          {t('history.notes.time')}
          <input type="datetime-local" required value={time} onChange={(event) => setTime(event.target.value)} />
        </label>
        <label>
          {t('history.notes.kind')}
          <select value={kind} onChange={(event) => setKind(event.target.value as NoteKind)}>
            {Object.entries(NOTE_KINDS).map(([name, title]) => (
              <option key={name} value={name}>
                {title}
              </option>
            ))}
          </select>
        </label>
      </div>
      <label>
        {t('history.notes.text')}
        <textarea
          rows={2}
          autoFocus
          required
          maxLength={4000}
          value={text}
          placeholder={t('history.notes.placeholder')}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <ErrorMessage message={at === null ? t('history.notes.badTime') : error} />
      <div className="buttons">
        <button type="submit" className="main" disabled={busy || at === null || !text.trim()}>
          {t('history.notes.save')}
        </button>
        <button type="button" onClick={onCancel}>
          {t('history.notes.cancel')}
        </button>
      </div>
    </form>
  )
}
