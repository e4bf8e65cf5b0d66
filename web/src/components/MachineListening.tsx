import type { MachineStatus } from '../api/types'
import { LiveListening } from './LiveListening'

/** Hz, where nothing is known of the sensor yet. */
const USUAL_RATE = 16000

/** Plays the sound of a machine as it arrives. */
export function MachineListening({ machine: { id, sensor, listening } }: { machine: MachineStatus }) {
  return <LiveListening address={`machines/${id}/listen`} rate={sensor?.sample_rate || USUAL_RATE} possible={listening} />
}
