import type { FormEvent } from 'react'
import { useLive } from '../api/useLive'
import { draftId, type MachineDraft } from '../lib/machineDraft'
import { t } from '../i18n'
import { ErrorMessage } from './ErrorMessage'
import { MachineFields } from './MachineFields'
import { Panel } from './Panel'
import { SourceFields } from './SourceFields'

interface Props {
  /** Kept by the page, so that one can come back to it. */
  draft: MachineDraft
  title: string
  onDraft: (draft: MachineDraft) => void
  onNext: () => void
}

/** Name and source of a machine that does not exist yet; nothing is sent. */
export function MachineForm({ draft, title, onDraft, onNext }: Props) {
  const { machines } = useLive()
  const change = (part: Partial<MachineDraft>) => onDraft({ ...draft, ...part })
  const id = draftId(draft)
  const isTaken = id in machines
  const send = (event: FormEvent) => {
    event.preventDefault()
    if (!isTaken) onNext()
  }
  return (
    <Panel title={title}>
      <form onSubmit={send}>
        <MachineFields draft={draft} withId onChange={change} />
        <SourceFields draft={draft} onChange={change} />
        <ErrorMessage message={isTaken ? t('setup.fields.idTaken', { id }) : ''} />
        <button type="submit" className="main">
          {t('add.next')}
        </button>
      </form>
    </Panel>
  )
}
