/** What has changed, in words: the service sends codes and numbers, a language words them. */
import type { Finding, MachineEvent } from '../api/types'
import { exactHertz, figures } from './numbers'

type Code = Finding['code']

/** How a language words each code; small letters, to go into a sentence. */
type Wording = Record<Code, (finding: Finding) => string>

function decibels(db: number | null): string {
  return `${Math.abs(db ?? 0).toFixed(0)} dB`
}

const english = {
  above: ({ db }: Finding) => (db === null ? '' : `, ${decibels(db)} ${db < 0 ? 'below' : 'above'} normal`),
  band: ({ low_hz, high_hz }: Finding) => `${exactHertz(low_hz ?? 0)} to ${exactHertz(high_hz ?? 0)}`,
  from: (finding: Finding) => (finding.low_hz === null ? '' : `, from ${english.band(finding)}`),
}

const ENGLISH: Wording = {
  level: ({ db }) => `${decibels(db)} ${(db ?? 0) < 0 ? 'quieter' : 'louder'} than normal`,
  band: (finding) => `${english.band(finding)}${english.above(finding)}`,
  tone: (finding) => `${finding.new ? 'new' : 'stronger'} tone at ${exactHertz(finding.hz ?? 0)}${english.above(finding)}`,
  knocks: (finding) => {
    const rate = finding.per_second === null ? '' : `, ${figures(finding.per_second)} per second`
    return `${finding.new ? 'new' : 'stronger'} knocks${rate}${english.from(finding)}`
  },
  modulation: (finding) => {
    const rate = finding.per_second === null ? '' : ` ${figures(finding.per_second)} times per second`
    return `strength rises and falls${rate}${english.from(finding)}`
  },
}

/** The languages of the page; another one is another wording here. */
const WORDINGS = { en: ENGLISH } satisfies Record<string, Wording>
export type Language = keyof typeof WORDINGS

/** "new tone at 130 Hz, 30 dB above normal" */
export function findingText(finding: Finding, language: Language = 'en'): string {
  return WORDINGS[language][finding.code](finding)
}

export function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** All of them in a sentence without its full stop; empty where there are none. */
export function findingsText(findings: readonly Finding[]): string {
  return capitalised(findings.map((finding) => findingText(finding)).join('; '))
}

/** An event in a line: the most important finding, or what the service says where there is none. */
export function eventText({ findings, message }: Pick<MachineEvent, 'findings' | 'message'>): string {
  const [first, ...others] = findings
  if (!first) return message
  return `${capitalised(findingText(first))}${others.length ? ` (and ${others.length} more)` : ''}`
}
