export interface Field {
  name: string
  title: string
  type: 'text' | 'number'
  required: boolean
  placeholder: string
}

export interface SourceKind {
  kind: string
  title: string
  help: string
  fields: readonly Field[]
}

const field = (name: string, title: string, placeholder: string, required = false, type: Field['type'] = 'text'): Field => ({
  name,
  title,
  type,
  required,
  placeholder,
})
const CHANNEL = field('channel', 'Channel, counted from 0', '0', false, 'number')

/** Kinds of sources as plant.yaml has them, but for those that read files: the service takes none of them from here. */
export const SOURCES: readonly SourceKind[] = [
  {
    kind: 'microphone',
    title: 'Microphone',
    help: 'a sound card of the computer that the service runs on',
    fields: [field('device', 'Device: number or part of its name', 'the default one'), CHANNEL],
  },
  {
    kind: 'network',
    title: 'Network stream',
    help: 'RTSP, HTTP: cameras and encoders',
    fields: [field('url', 'Address', 'rtsp://…', true), CHANNEL],
  },
  {
    kind: 'pushed',
    title: 'Sent to here',
    help: 'others post files or stream samples to the service',
    fields: [CHANNEL],
  },
  {
    kind: 'simulated',
    title: 'Simulated',
    help: 'a machine that does not exist, to try things out',
    fields: [
      field('machine', 'Machine', 'fan, gearbox, pump, slider or valve'),
      field('fault_after', 'Seconds until a fault grows', 'never', false, 'number'),
    ],
  },
]
