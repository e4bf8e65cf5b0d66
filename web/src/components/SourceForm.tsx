import type { FormEvent } from 'react'
import { post, url } from '../api/client'
import { useReload } from '../api/useLive'
import { machineId } from '../lib/machineId'
import { MICROPHONE, sensorSettings, type SensorDraft } from '../lib/sensor'
import { SOURCES, sourceSettings } from '../lib/sources'
import { useAction } from '../lib/useAction'
import { Panel } from './Panel'
import { ErrorMessage } from './ErrorMessage'
import { SensorFields } from './SensorFields'
import { SourceField } from './SourceField'

/** What has been entered; kept by the page, so that one can come back to it. */
export interface MachineDraft {
  name: string
  site: string
  /** Empty: derived from the name. */
  id: string
  kind: string
  fields: Record<string, string>
  sensor: SensorDraft
}

export const EMPTY_DRAFT: MachineDraft = { name: '', site: '', id: '', kind: 'microphone', fields: {}, sensor: MICROPHONE }

interface Props {
  draft: MachineDraft
  onDraft: (draft: MachineDraft) => void
  onAdded: (id: string) => void
}

/** Name and source of the machine. */
export function SourceForm({ draft, onDraft, onAdded }: Props) {
  const reload = useReload()
  const { run, busy, error } = useAction()
  const { name, site, kind, fields, sensor } = draft
  const id = draft.id || machineId(name)
  const change = (part: Partial<MachineDraft>) => onDraft({ ...draft, ...part })
  const source = SOURCES.find((each) => each.kind === kind) ?? SOURCES[0]
  const send = (event: FormEvent) => {
    event.preventDefault()
    const settings = sourceSettings(source?.fields ?? [], fields)
    const measured = source?.snapshots ? { sensor: sensorSettings(sensor, source.snapshots === 'always') } : {}
    void run(async () => {
      await post(url('machines'), { id, name, site, source: { kind, ...settings }, ...measured })
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
            A machine that needs files of the service’s computer (a folder, a replayed recording, a model or the password of an MQTT broker) is added in the configuration file.
          </p>
        </fieldset>
        {source?.fields.map((field) => (
          <SourceField
            key={`${kind} ${field.name}`}
            field={field}
            value={fields[field.name] ?? ''}
            onChange={(value) => change({ fields: { ...fields, [field.name]: value } })}
          />
        ))}
        {source?.snapshots && (
          <SensorFields sensor={sensor} onlySnapshots={source.snapshots === 'always'} onChange={(changed) => change({ sensor: changed })} />
        )}
        <ErrorMessage message={error} />
        <button type="submit" className="main" disabled={busy || !id}>
          Next
        </button>
      </form>
    </Panel>
  )
}
