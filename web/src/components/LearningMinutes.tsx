import { t } from '../i18n'

const ENOUGH = 5

/** How long to learn. */
export function LearningMinutes({ minutes, onChange }: { minutes: number; onChange: (minutes: number) => void }) {
  return (
    <label className="inline">
      {t('baseline.minutes')}{' '}
      <input type="number" min={1} max={1440} value={minutes} onChange={(event) => onChange(Number(event.target.value))} />
    </label>
  )
}

export function FewMinutes({ minutes }: { minutes: number }) {
  if (minutes >= ENOUGH) return null
  return <p className="warned">{t('baseline.tooShort')}</p>
}
