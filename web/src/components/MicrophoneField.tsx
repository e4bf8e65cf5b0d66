import type { Microphones } from '../api/types'
import { url } from '../api/client'
import { useFetched } from '../api/useFetched'
import { t } from '../i18n'
import { translated } from '../lib/sentences'

interface Props {
  /** Empty: the default device. */
  device: string
  onChange: (device: string) => void
}

/** A choice of the microphones that the service's computer has now. */
export function MicrophoneField({ device, onChange }: Props) {
  const { content, error, refetch } = useFetched<Microphones>(url('microphones'))
  const all = content?.microphones ?? []
  const usual = all.find((each) => each.is_default)
  const isMissing = device !== '' && !all.some((each) => each.device === device)
  const problem = error || (content && translated(content.problem, content.problem_sentence)) || (content && !all.length ? t('setup.microphone.none') : '')
  return (
    <div className="microphones">
      <label>
        {t('setup.microphone.label')}
        <select value={device} onChange={(event) => onChange(event.target.value)}>
          <option value="">
            {usual ? t('setup.microphone.defaultNamed', { name: usual.name }) : t('setup.microphone.default')}
          </option>
          {all.map((each) => (
            <option key={each.device} value={each.device}>
              {t('setup.microphone.device', { name: each.name, count: each.channels })}
            </option>
          ))}
          {isMissing && <option value={device}>{t('setup.microphone.missing', { name: device })}</option>}
        </select>
      </label>
      <button type="button" onClick={refetch}>
        {t('setup.microphone.refresh')}
      </button>
      {problem && <p className="plain">{problem}</p>}
    </div>
  )
}
