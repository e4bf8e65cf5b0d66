/** What a person has entered about a machine, and the settings that the service wants. */
import type { MachineData, MachineSettings, Sensor } from '../api/types'
import { machineId } from './machineId'
import { MICROPHONE, sensorSettings, USUAL_FULL_SCALE, type SensorDraft } from './sensor'
import { SOURCES, sourceSettings, type SourceKind } from './sources'

export interface AlarmDraft {
  offBelow: string
  minDuration: string
  clearAfter: string
  rejoinWithin: string
}

export interface MachineDraft {
  name: string
  site: string
  group: string
  type: string
  /** Empty: derived from the name. */
  id: string
  kind: string
  fields: Record<string, string>
  sensor: SensorDraft
  alarm: AlarmDraft
  machineData: MachineData
}

/** A machine of which only the sound is known. */
export const NO_MACHINE_DATA: MachineData = { speed_rpm: null, speed_tolerance_percent: 2, bearings: [], gears: [], blades: null }

const DEFAULT_ALARM: AlarmDraft = { offBelow: '', minDuration: '', clearAfter: '', rejoinWithin: '' }

export const EMPTY_DRAFT: MachineDraft = {
  name: '',
  site: '',
  group: '',
  type: '',
  id: '',
  kind: 'microphone',
  fields: {},
  sensor: MICROPHONE,
  alarm: DEFAULT_ALARM,
  machineData: NO_MACHINE_DATA,
}

export function draftId(draft: MachineDraft): string {
  return draft.id || machineId(draft.name)
}

export function kindOf(draft: MachineDraft): SourceKind | undefined {
  return SOURCES.find((each) => each.kind === draft.kind)
}

const text = (value: unknown): string => (value === null || value === undefined || value === false ? '' : String(value))

export function toDraft(settings: MachineSettings): MachineDraft {
  const source = settings.source as Record<string, unknown> & { kind: string }
  const shown = SOURCES.find((each) => each.kind === source.kind)?.fields ?? []
  const { sensor, alarm } = settings
  return {
    name: settings.name,
    site: settings.site,
    group: settings.group,
    type: settings.type,
    id: settings.id,
    machineData: settings.machine_data,
    kind: source.kind,
    fields: Object.fromEntries(shown.map(({ name }) => [name, text(source[name])])),
    sensor: {
      unit: sensor?.unit ?? '',
      fullScale: text(sensor?.full_scale),
      sampleRate: text(sensor?.sample_rate),
      axes: (sensor?.axes ?? []).join(', '),
      snapshots: sensor?.snapshots ?? false,
    },
    alarm: {
      offBelow: text(alarm?.off_below_dbfs),
      minDuration: text(alarm?.min_duration),
      clearAfter: text(alarm?.clear_after),
      rejoinWithin: text(alarm?.rejoin_within),
    },
  }
}

/** Of the fields that were filled in; the others keep their defaults. */
function alarmSettings(draft: AlarmDraft): Record<string, number> {
  const entered: Record<string, string> = {
    off_below_dbfs: draft.offBelow,
    min_duration: draft.minDuration,
    clear_after: draft.clearAfter,
    rejoin_within: draft.rejoinWithin,
  }
  const filled = Object.entries(entered).filter(([, value]) => value.trim())
  return Object.fromEntries(filled.map(([name, value]) => [name, Number(value)]))
}

const ALARM_FIELDS = ['off_below_dbfs', 'min_duration', 'clear_after', 'rejoin_within']

const without = (settings: object, names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(Object.entries(settings).filter(([name]) => !names.includes(name)))

/** The settings of the machine; what the form does not show stays as it is in `base`. */
export function toSettings(draft: MachineDraft, base: MachineSettings | null = null): Record<string, unknown> {
  const kind = kindOf(draft)
  const entered = sourceSettings(kind?.fields ?? [], draft.fields)
  const sameKind = base !== null && base.source.kind === draft.kind
  const hidden = sameKind ? without(base.source, (kind?.fields ?? []).map(({ name }) => name)) : {}
  const sensor = kind?.snapshots ? sensorSettings(draft.sensor, kind.snapshots === 'always') : sameKind ? base.sensor : undefined
  const alarm = { ...without(base?.alarm ?? {}, ALARM_FIELDS), ...alarmSettings(draft.alarm) }
  return {
    ...(base ?? {}),
    id: draftId(draft),
    name: draft.name,
    site: draft.site,
    ...((draft.group || base) && { group: draft.group }),
    ...((draft.type || base) && { type: draft.type }),
    source: { ...hidden, kind: draft.kind, ...entered },
    ...((sensor || base) && { sensor: sensor ?? {} }),
    ...(Object.keys(alarm).length > 0 && { alarm }),
    ...((draft.machineData !== NO_MACHINE_DATA || base) && { machine_data: draft.machineData }),
  }
}

/** Whether both have the same source and sensor. */
export function sameSource(one: MachineDraft, other: MachineDraft): boolean {
  const key = ({ kind, fields, sensor }: MachineDraft) => JSON.stringify([kind, Object.entries(fields).sort(), sensor])
  return key(one) === key(other)
}

/** What the level of the source is shown in. */
export function draftSensor({ sensor }: MachineDraft): Sensor | null {
  if (!sensor.unit) return null
  return {
    unit: sensor.unit,
    full_scale: Number(sensor.fullScale) || USUAL_FULL_SCALE[sensor.unit],
    sample_rate: Number(sensor.sampleRate) || 16_000,
    axes: [],
    at_intervals: sensor.snapshots,
  }
}
