import { named, t } from '../i18n'

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

/** Titles and examples are read when shown: the language may change. */
function field(name: string, required = false, type: Field['type'] = 'text'): Field {
  return {
    name,
    type,
    required,
    get title() {
      return t(`sources.fields.${name}`)
    },
    get placeholder() {
      return type === 'checkbox' ? '' : t(`sources.examples.${name}`)
    },
  }
}

function source(kind: string, fields: readonly Field[], snapshots?: SourceKind['snapshots']): SourceKind {
  return {
    kind,
    fields,
    ...(snapshots && { snapshots }),
    get title() {
      return SOURCE_NAMES[kind] ?? kind
    },
    get help() {
      return t(`sources.help.${kind}`)
    },
  }
}

/** Titles of all kinds of sources. */
export const SOURCE_NAMES: Readonly<Record<string, string>> = named('sources.names', [
  'microphone',
  'network',
  'pushed',
  'mqtt',
  'simulated',
  'folder',
  'replay',
])

const CHANNEL = field('channel', false, 'number')

/** Kinds of sources that can be added on the page: all but those that read files of the service's computer. */
export const SOURCES: readonly SourceKind[] = [
  source('microphone', [field('device'), CHANNEL]),
  source('network', [field('url', true), CHANNEL]),
  source('pushed', [CHANNEL], 'choice'),
  source('mqtt', [field('host', true), field('port', false, 'number'), field('topic', true), field('tls', false, 'checkbox')], 'always'),
  source('simulated', [field('machine'), field('fault_after', false, 'number')]),
]

/** What was entered, as the service wants it; what was left empty keeps its default there. */
export function sourceSettings(fields: readonly Field[], entered: Record<string, string>): Record<string, unknown> {
  const typed = (type: Field['type'], value: string) =>
    type === 'number' ? Number(value) : type === 'checkbox' ? value === 'true' : value.trim()
  return Object.fromEntries(
    fields.flatMap(({ name, type }) => (entered[name]?.trim() ? [[name, typed(type, entered[name])]] : [])),
  )
}
