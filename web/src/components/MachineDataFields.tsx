import { useId } from 'react'
import type { Bearing, MachineData } from '../api/types'
import { url } from '../api/client'
import { useFetched } from '../api/useFetched'
import { t } from '../i18n'
import { NO_MACHINE_DATA } from '../lib/machineDraft'

type BearingData = MachineData['bearings'][number]
type GearData = MachineData['gears'][number]
type Geometry = NonNullable<BearingData['geometry']>

/** Nothing that could be saved by mistake: lines of a bearing that is not in the machine mislead. */
const NEW_GEOMETRY: Geometry = { elements: 0, element_mm: 0, pitch_mm: 0, contact_degrees: 0 }
const OWN = ' ' // no bearing can be called so

interface Props {
  value: MachineData
  onChange: (data: MachineData) => void
}

const numberOrNull = (text: string) => (text === '' ? null : Number(text))
const replaced = <T,>(list: readonly T[], index: number, item: T): T[] => list.map((each, at) => (at === index ? item : each))
const without = <T,>(list: readonly T[], index: number): T[] => list.filter((_, at) => at !== index)

/** What turns in a machine: its speed, bearings, gears and blades. */
export function MachineDataFields({ value, onChange }: Props) {
  const { content: catalogue } = useFetched<Bearing[]>(url('bearings'))
  const change = (part: Partial<MachineData>) => onChange({ ...value, ...part })
  return (
    <fieldset className="machine-data">
      <legend>{t('diagnosis.data.legend')}</legend>
      <p className="plain">{t('diagnosis.data.hint')}</p>
      <div className="fields">
        <NumberField
          label={t('diagnosis.data.speed')}
          value={value.speed_rpm ?? null}
          min={0}
          onChange={(speed_rpm) => change({ speed_rpm })}
          hint={t('diagnosis.data.speedHint')}
        />
        <NumberField
          label={t('diagnosis.data.tolerance')}
          value={value.speed_tolerance_percent}
          min={0.1}
          max={10}
          onChange={(percent) => change({ speed_tolerance_percent: percent ?? NO_MACHINE_DATA.speed_tolerance_percent })}
        />
        <NumberField label={t('diagnosis.data.blades')} value={value.blades ?? null} min={1} step={1} onChange={(blades) => change({ blades })} />
      </div>
      {value.bearings.map((bearing, index) => (
        <BearingFields
          key={index}
          number={index + 1}
          bearing={bearing}
          catalogue={catalogue ?? []}
          onChange={(changed) => change({ bearings: replaced(value.bearings, index, changed) })}
          onRemove={() => change({ bearings: without(value.bearings, index) })}
        />
      ))}
      {value.gears.map((gear, index) => (
        <GearFields
          key={index}
          number={index + 1}
          gear={gear}
          onChange={(changed) => change({ gears: replaced(value.gears, index, changed) })}
          onRemove={() => change({ gears: without(value.gears, index) })}
        />
      ))}
      <div className="buttons">
        <button
          type="button"
          onClick={() =>
            change({
              bearings: [...value.bearings, { label: '', name: '', geometry: null, shaft_ratio: 1 }],
            })
          }
        >
          {t('diagnosis.data.addBearing')}
        </button>
        <button type="button" onClick={() => change({ gears: [...value.gears, { label: '', teeth: 0, shaft_ratio: 1 }] })}>
          {t('diagnosis.data.addGear')}
        </button>
      </div>
    </fieldset>
  )
}

interface BearingProps {
  number: number
  bearing: BearingData
  catalogue: readonly Bearing[]
  onChange: (bearing: BearingData) => void
  onRemove: () => void
}

function BearingFields({ number, bearing, catalogue, onChange, onRemove }: BearingProps) {
  const title = t('diagnosis.data.bearing', { number })
  const { geometry } = bearing
  const entry = catalogue.find((each) => each.name === bearing.name)
  return (
    <fieldset>
      <legend>{title}</legend>
      <div className="fields">
        <label>
          {t('diagnosis.data.label')}
          <input value={bearing.label} maxLength={40} onChange={(event) => onChange({ ...bearing, label: event.target.value })} />
        </label>
        <label>
          {t('diagnosis.data.name')}
          <select
            required
            value={geometry ? OWN : bearing.name}
            onChange={({ target: { value } }) =>
              onChange({ ...bearing, name: value.trim(), geometry: value === OWN ? NEW_GEOMETRY : null })
            }
          >
            <option value="" disabled>
              {t('diagnosis.data.choose')}
            </option>
            <option value={OWN}>{t('diagnosis.data.own')}</option>
            {bearing.name && !entry && <option value={bearing.name}>{bearing.name}</option>}
            {catalogue.map((each) => (
              <option key={each.name} value={each.name}>
                {each.name}
              </option>
            ))}
          </select>
        </label>
        {geometry &&
          (['elements', 'element_mm', 'pitch_mm', 'contact_degrees'] as const).map((field) => (
            <NumberField
              key={field}
              label={t(`diagnosis.data.geometry.${field}`)}
              required
              value={geometry[field] || (field === 'contact_degrees' ? 0 : null)}
              min={field === 'elements' ? 3 : 0}
              step={field === 'elements' ? 1 : undefined}
              onChange={(entered) => onChange({ ...bearing, geometry: { ...geometry, [field]: entered ?? 0 } })}
            />
          ))}
        <NumberField
          label={t('diagnosis.data.ratio')}
          value={bearing.shaft_ratio}
          min={0}
          onChange={(ratio) => onChange({ ...bearing, shaft_ratio: ratio ?? 1 })}
        />
      </div>
      {entry && <p className="plain">{t('diagnosis.data.source', { source: entry.source })}</p>}
      <button type="button" className="small" onClick={onRemove}>
        {t('diagnosis.data.remove', { what: title })}
      </button>
    </fieldset>
  )
}

interface GearProps {
  number: number
  gear: GearData
  onChange: (gear: GearData) => void
  onRemove: () => void
}

function GearFields({ number, gear, onChange, onRemove }: GearProps) {
  const title = t('diagnosis.data.gear', { number })
  return (
    <fieldset>
      <legend>{title}</legend>
      <div className="fields">
        <label>
          {t('diagnosis.data.gearLabel')}
          <input value={gear.label} maxLength={40} onChange={(event) => onChange({ ...gear, label: event.target.value })} />
        </label>
        <NumberField
          required
          label={t('diagnosis.data.teeth')}
          value={gear.teeth || null}
          min={2}
          step={1}
          onChange={(teeth) => onChange({ ...gear, teeth: teeth ?? 0 })}
        />
        <NumberField
          label={t('diagnosis.data.ratio')}
          value={gear.shaft_ratio}
          min={0}
          onChange={(ratio) => onChange({ ...gear, shaft_ratio: ratio ?? 1 })}
        />
      </div>
      <button type="button" className="small" onClick={onRemove}>
        {t('diagnosis.data.remove', { what: title })}
      </button>
    </fieldset>
  )
}

interface NumberProps {
  label: string
  value: number | null
  min?: number
  max?: number
  step?: number | undefined
  hint?: string
  required?: boolean
  onChange: (value: number | null) => void
}

function NumberField({ label, value, min, max, step, hint, required, onChange }: NumberProps) {
  const id = useId()
  return (
    <label>
      {label}
      <input
        type="number"
        inputMode="decimal"
        required={required}
        min={min}
        max={max}
        step={step ?? 'any'}
        value={value ?? ''}
        aria-describedby={hint ? id : undefined}
        onChange={(event) => onChange(numberOrNull(event.target.value))}
      />
      {hint && (
        <small id={id} className="soft">
          {hint}
        </small>
      )}
    </label>
  )
}
