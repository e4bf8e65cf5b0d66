import type { AlarmDraft } from '../lib/machineDraft'
import { t } from '../i18n'

interface Props {
  alarm: AlarmDraft
  onChange: (alarm: AlarmDraft) => void
}

/** When the machine counts as switched off, and how long an alert lasts. */
export function AlarmFields({ alarm, onChange }: Props) {
  const field = (name: keyof AlarmDraft, title: string, limits: { min?: number; max?: number }, placeholder = '') => (
    <label>
      {title}
      <input
        type="number"
        step="any"
        {...limits}
        value={alarm[name]}
        placeholder={placeholder}
        onChange={(event) => onChange({ ...alarm, [name]: event.target.value })}
      />
    </label>
  )
  return (
    <fieldset className="alarm-fields">
      <legend>{t('setup.alarm.title')}</legend>
      {field('offBelow', t('setup.alarm.off'), { max: 0 }, t('setup.alarm.offPlaceholder'))}
      <p className="soft">{t('setup.alarm.offHelp')}</p>
      <div className="fields">
        {field('minDuration', t('setup.alarm.begin'), { min: 0 })}
        {field('clearAfter', t('setup.alarm.clear'), { min: 0 })}
        {field('rejoinWithin', t('setup.alarm.rejoin'), { min: 0 })}
      </div>
      <p className="soft">{t('setup.alarm.thresholds')}</p>
    </fieldset>
  )
}
