import type { Note } from '../api/types'
import { t } from '../i18n'
import { NOTE_KINDS } from '../lib/notes'
import { date } from '../lib/time'

interface Props {
  notes: Note[]
  range: [number, number]
  /** Where the curve is drawn, in pixels of the chart. */
  area: { left: number; width: number }
  zone: string
}

/** Marks of notes above the chart, each at its time; the text is shown when one points at it or taps it. */
export function NoteMarks({ notes, range: [begin, end], area, zone }: Props) {
  const shown = notes.filter(({ at }) => at >= begin && at <= end)
  if (!shown.length || !area.width) return null
  return (
    <ul className="note-marks" aria-label={t('history.notes.title')} style={{ marginLeft: area.left, width: area.width }}>
      {shown.map((note) => {
        const share = (note.at - begin) / (end - begin)
        const text = t('history.notes.mark', { kind: NOTE_KINDS[note.kind], time: date(note.at, zone), text: note.text, who: note.who })
        return (
          <li key={note.id} style={{ left: `${100 * share}%` }}>
            <button type="button" className={`note-mark ${note.kind}`} aria-label={text} />
            <span className={share > 0.5 ? 'tip to-left' : 'tip'} aria-hidden="true">
              {text}
            </span>
          </li>
        )
      })}
    </ul>
  )
}
