import type { NoteKind } from '../api/types'
import { named } from '../i18n'

const KINDS: readonly NoteKind[] = ['repair', 'inspection', 'other']

/** What a note is about. */
export const NOTE_KINDS = named('history.notes.kinds', KINDS)
