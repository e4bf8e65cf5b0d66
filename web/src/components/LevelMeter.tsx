import type { Sensor } from '../api/types'
import { listed, t } from '../i18n'
import { levelText } from '../lib/sensor'

const QUIETEST = -80

/** What a microphone's level means; of a calibrated sensor only that it clips. */
function verdict(level: number, sensor: Sensor | null): string {
  if (level > -3) return sensor?.unit ? t('sensor.atFullScale') : t('sensor.tooLoud')
  if (sensor?.unit) return ''
  return level > -60 ? t('sensor.good') : t('sensor.veryQuiet')
}

/** Level of the last second or measurement, in the unit of the sensor or against full scale. */
export function LevelMeter({ level, sensor }: { level: number | null; sensor: Sensor | null }) {
  if (level === null) return <span>{t('sensor.noSound')}</span>
  const share = Math.min(100, Math.max(0, 100 * (1 - level / QUIETEST)))
  const text = listed([levelText(level, sensor), verdict(level, sensor)])
  return (
    <span className="level">
      <span
        className="bar"
        role="meter"
        aria-label={t('sensor.level')}
        aria-valuemin={QUIETEST}
        aria-valuemax={0}
        aria-valuenow={Math.round(Math.max(QUIETEST, level))}
        aria-valuetext={text}
      >
        <span className="fill" style={{ width: `${share}%` }} />
      </span>
      {text}
    </span>
  )
}
