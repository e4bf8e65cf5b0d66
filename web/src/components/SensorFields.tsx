import { t } from '../i18n'
import { UNITS, USUAL_FULL_SCALE, type SensorDraft } from '../lib/sensor'

interface Props {
  sensor: SensorDraft
  /** Where the source sends nothing else. */
  onlySnapshots: boolean
  onChange: (sensor: SensorDraft) => void
}

/** What a machine is measured with, where that need not be a microphone. */
export function SensorFields({ sensor, onlySnapshots, onChange }: Props) {
  const change = (part: Partial<SensorDraft>) => onChange({ ...sensor, ...part })
  return (
    <fieldset className="sensor">
      <legend>{t('sensor.title')}</legend>
      <label>
        {t('sensor.unit')}
        <select value={sensor.unit} onChange={(event) => change({ unit: event.target.value as SensorDraft['unit'] })}>
          {UNITS.map((unit) => (
            <option key={unit} value={unit}>
              {unit || t('sensor.noUnit')}
            </option>
          ))}
        </select>
      </label>
      {sensor.unit && (
        <label>
          {t('sensor.fullScale', { unit: sensor.unit })}
          <input
            type="number"
            min={0}
            step="any"
            value={sensor.fullScale}
            placeholder={String(USUAL_FULL_SCALE[sensor.unit])}
            onChange={(event) => change({ fullScale: event.target.value })}
          />
        </label>
      )}
      <label>
        {t('sensor.rateInHertz')}
        <input
          type="number"
          min={2000}
          max={51200}
          value={sensor.sampleRate}
          placeholder={onlySnapshots || sensor.snapshots ? t('sensor.asSent') : '16000'}
          onChange={(event) => change({ sampleRate: event.target.value })}
        />
      </label>
      <label>
        {t('sensor.axisNames')}
        <input value={sensor.axes} placeholder="x, y, z" onChange={(event) => change({ axes: event.target.value })} />
      </label>
      {!onlySnapshots && (
        <label className="inline">
          <input type="checkbox" checked={sensor.snapshots} onChange={(event) => change({ snapshots: event.target.checked })} />
          {t('sensor.snapshots')}
        </label>
      )}
    </fieldset>
  )
}
