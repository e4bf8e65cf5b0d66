import type { Sensor } from '../api/types'
import { axesText, quantity, sampleRate } from '../lib/sensor'

/** What the machine is measured with, for a list of facts. */
export function SensorFacts({ sensor }: { sensor: Sensor }) {
  return (
    <>
      <dt>Sensor</dt>
      <dd>{quantity(sensor)}</dd>
      <dt>Sample rate</dt>
      <dd>{sampleRate(sensor.sample_rate)}</dd>
      <dt>Axes</dt>
      <dd>{axesText(sensor.axes)}</dd>
      <dt>Measured</dt>
      <dd>{sensor.at_intervals ? 'at intervals, each measurement judged when it arrives' : 'continuously'}</dd>
    </>
  )
}
