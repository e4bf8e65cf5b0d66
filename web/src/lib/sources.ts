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
