import type { FormEvent } from 'react'
import { post, url } from '../api/client'
import { useReload } from '../api/useLive'
import { machineId } from '../lib/machineId'
import { SOURCES } from '../lib/sources'
import { useAction } from '../lib/useAction'
import { Panel } from './Panel'
import { ErrorMessage } from './ErrorMessage'

/** What has been entered; kept by the page, so that one can come back to it. */
export interface MachineDraft {
  name: string
  site: string
  /** Empty: derived from the name. */
  id: string
  kind: string
  fields: Record<string, string>
}

export const EMPTY_DRAFT: MachineDraft = { name: '', site: '', id: '', kind: 'microphone', fields: {} }

interface Props {
  draft: MachineDraft
  onDraft: (draft: MachineDraft) => void
  onAdded: (id: string) => void
}

/** Name and source of the machine. */
export function SourceForm({ draft, onDraft, onAdded }: Props) {
  const reload = useReload()
  const { run, busy, error } = useAction()
  const { name, site, kind, fields } = draft
  const id = draft.id || machineId(name)
  const change = (part: Partial<MachineDraft>) => onDraft({ ...draft, ...part })
  const source = SOURCES.find((each) => each.kind === kind) ?? SOURCES[0]
  const send = (event: FormEvent) => {
    event.preventDefault()
    const settings = Object.fromEntries(
      (source?.fields ?? []).flatMap((field) => {
        const value = fields[field.name]?.trim() ?? ''
        return value === '' ? [] : [[field.name, field.type === 'number' ? Number(value) : value]]
      }),
    )
    void run(async () => {
      await post(url('machines'), { id, name, site, source: { kind, ...settings } })
      await reload()
    }).then((done) => {
      if (done) onAdded(id)
    })
  }
  return (
    <Panel title="Name and source">
      <form onSubmit={send}>
        <label>
          Name
          <input required autoFocus value={name} placeholder="Coolant pump 1" onChange={(event) => change({ name: event.target.value })} />
        </label>
        <label>
          Site
          <input value={site} placeholder="Hall A" onChange={(event) => change({ site: event.target.value })} />
        </label>
        <label>
          Id, for addresses and messages
          <input
            required
            pattern="[a-z0-9][a-z0-9_\-]{0,63}"
            title="small letters, digits, - and _"
            value={id}
            onChange={(event) => change({ id: event.target.value })}
          />
        </label>
        <fieldset>
          <legend>Source</legend>
          {SOURCES.map((each) => (
            <label key={each.kind} className="choice">
              <input type="radio" name="kind" checked={kind === each.kind} onChange={() => change({ kind: each.kind })} />
              <span>
                <strong>{each.title}</strong>
                <span className="soft"> {each.help}</span>
              </span>
            </label>
          ))}
          <p className="soft">
            A machine that needs files of the service’s computer (a folder, a replayed recording or a model) is added in the configuration file.
          </p>
        </fieldset>
        {source?.fields.map((field) => (
          <label key={`${kind} ${field.name}`}>
            {field.title}
            <input
              type={field.type}
              required={field.required}
              placeholder={field.placeholder}
              value={fields[field.name] ?? ''}
              onChange={(event) => change({ fields: { ...fields, [field.name]: event.target.value } })}
            />
          </label>
        ))}
        <ErrorMessage message={error} />
        <button type="submit" className="main" disabled={busy || !id}>
          Next
        </button>
      </form>
    </Panel>
  )
}
