import { kindOf, type MachineDraft } from '../lib/machineDraft'
import { SOURCE_NAMES, SOURCES } from '../lib/sources'
import { t } from '../i18n'
import { MicrophoneField } from './MicrophoneField'
import { SensorFields } from './SensorFields'
import { SourceField } from './SourceField'

interface Props {
  draft: MachineDraft
  onChange: (part: Partial<MachineDraft>) => void
}

/** Where the sound comes from, and what it is measured with. */
export function SourceFields({ draft, onChange }: Props) {
  const { kind, fields, sensor } = draft
  const source = kindOf(draft)
  const change = (name: string, value: string) => onChange({ fields: { ...fields, [name]: value } })
  return (
    <>
      <fieldset>
        <legend>{t('add.source')}</legend>
        {SOURCES.map((each) => (
          <label key={each.kind} className="choice">
            <input type="radio" name="kind" checked={kind === each.kind} onChange={() => onChange({ kind: each.kind })} />
            <span>
              <strong>{each.title}</strong>
              <span className="soft"> {each.help}</span>
            </span>
          </label>
        ))}
        {source ? <p className="soft">{t('add.filesInConfiguration')}</p> : <p>{SOURCE_NAMES[kind] ?? kind}</p>}
      </fieldset>
      {source?.fields.map((field) =>
        kind === 'microphone' && field.name === 'device' ? (
          <MicrophoneField key={field.name} device={fields['device'] ?? ''} onChange={(device) => change('device', device)} />
        ) : (
          <SourceField
            key={`${kind} ${field.name}`}
            field={field}
            value={fields[field.name] ?? ''}
            onChange={(value) => change(field.name, value)}
          />
        ),
      )}
      {fields['url']?.includes('…') && <p className="soft">{t('setup.fields.hiddenPassword')}</p>}
      {source?.snapshots && (
        <SensorFields sensor={sensor} onlySnapshots={source.snapshots === 'always'} onChange={(changed) => onChange({ sensor: changed })} />
      )}
    </>
  )
}
