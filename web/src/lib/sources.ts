export interface Field {
  name: string
  title: string
  type: 'text' | 'number' | 'checkbox'
  required: boolean
  placeholder: string
}

export interface SourceKind {
  kind: string
  title: string
  help: string
  fields: readonly Field[]
  /** Where it can carry what another sensor than a microphone measures: whether only in snapshots. */
  snapshots?: 'choice' | 'always'
}

const field = (name: string, title: string, placeholder: string, required = false, type: Field['type'] = 'text'): Field => ({
  name,
  title,
  type,
  required,
  placeholder,
})
const CHANNEL = field('channel', 'Channel (the first is 0)', '0', false, 'number')

/** Kinds of sources that can be added on the page: all but those that read files of the service's computer. */
export const SOURCES: readonly SourceKind[] = [
  {
    kind: 'microphone',
    title: 'Microphone',
    help: 'a sound card of the computer that runs the service',
    fields: [field('device', 'Device: number or part of its name', 'default device'), CHANNEL],
  },
  {
    kind: 'network',
    title: 'Network stream',
    help: 'RTSP or HTTP, from cameras and encoders',
    fields: [field('url', 'Address', 'rtsp://…', true), CHANNEL],
  },
  {
    kind: 'pushed',
    title: 'Pushed by HTTP',
    help: 'a device or program posts files or streams samples to the service',
    fields: [CHANNEL],
    snapshots: 'choice',
  },
  {
    kind: 'mqtt',
    title: 'MQTT',
    help: 'a sensor publishes its measurements to an MQTT broker',
    fields: [
      field('host', 'Broker', 'broker.example', true),
      field('port', 'Port', '1883', false, 'number'),
      field('topic', 'Topic', 'hall-a/pump-1/vibration', true),
      field('tls', 'Encrypted (TLS)', '', false, 'checkbox'),
    ],
    snapshots: 'always',
  },
  {
    kind: 'simulated',
    title: 'Simulated',
    help: 'a simulated machine, to try things out',
    fields: [
      field('machine', 'Machine type', 'fan, gearbox, pump, slider or valve'),
      field('fault_after', 'Seconds until a fault develops', 'never', false, 'number'),
    ],
  },
]

/** Titles of all kinds of sources. */
export const SOURCE_NAMES: Record<string, string> = {
  ...Object.fromEntries(SOURCES.map(({ kind, title }) => [kind, title])),
  folder: 'Folder of recordings',
  replay: 'Replayed recording',
}

/** What was entered, as the service wants it; what was left empty keeps its default there. */
export function sourceSettings(fields: readonly Field[], entered: Record<string, string>): Record<string, unknown> {
  const typed = (type: Field['type'], value: string) =>
    type === 'number' ? Number(value) : type === 'checkbox' ? value === 'true' : value.trim()
  return Object.fromEntries(
    fields.flatMap(({ name, type }) => (entered[name]?.trim() ? [[name, typed(type, entered[name])]] : [])),
  )
}
