import type { Sensor } from '../api/types'
import { t } from '../i18n'
import { axesText, quantity, sampleRate } from '../lib/sensor'

/** What the machine is measured with, for a list of facts. */
export function SensorFacts({ sensor }: { sensor: Sensor }) {
  return (
    <>
      <dt>{t('sensor.title')}</dt>
      <dd>{quantity(sensor)}</dd>
      <dt>{t('sensor.sampleRate')}</dt>
      <dd>{sampleRate(sensor.sample_rate)}</dd>
      {sensor.axes.length > 1 && (
        <>
          <dt>{t('sensor.axes')}</dt>
          <dd>{axesText(sensor.axes)}</dd>
        </>
      )}
      <dt>{t('sensor.measured')}</dt>
      <dd>{sensor.at_intervals ? t('sensor.atIntervals') : t('sensor.continuously')}</dd>
    </>
  )
}
