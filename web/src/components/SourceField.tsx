import type { Field } from '../lib/sources'

interface Props {
  field: Field
  /** As entered; of a checkbox, 'true' or empty. */
  value: string
  onChange: (value: string) => void
}

/** One setting of a source. */
export function SourceField({ field, value, onChange }: Props) {
  if (field.type === 'checkbox')
    return (
      <label className="inline">
        <input type="checkbox" checked={value === 'true'} onChange={(event) => onChange(event.target.checked ? 'true' : '')} /> {field.title}
      </label>
    )
  return (
    <label>
      {field.title}
      <input
        type={field.type}
        required={field.required}
        placeholder={field.placeholder}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </label>
  )
}
