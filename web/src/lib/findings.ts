/** What has changed, in words: the service sends codes and numbers. Small letters, to go into a sentence. */
import type { Finding, MachineEvent } from '../api/types'
import { clauses, listed, t } from '../i18n'
import { locale } from '../i18n/language'
import { linesText } from './diagnosis'
import { bandEnds, decibels, figures, hertz } from './numbers'
import { translated } from './sentences'

function size(db: number | null): { decibels: string } {
  return { decibels: decibels(Math.abs(db ?? 0)) }
}

function againstNormal({ db }: Finding): string {
  if (db === null) return ''
  return db < 0 ? t('findings.below', size(db)) : t('findings.above', size(db))
}

function limits({ low_hz, high_hz }: Finding): { low: string; high: string } {
  const [low, high] = bandEnds([low_hz ?? 0, high_hz ?? 0])
  return { low, high }
}

function from(finding: Finding): string {
  return finding.low_hz === null ? '' : t('findings.from', limits(finding))
}

const WORDINGS: Record<Finding['code'], (finding: Finding) => string> = {
  level: ({ db }) => ((db ?? 0) < 0 ? t('findings.quieter', size(db)) : t('findings.louder', size(db))),
  band: (finding) => listed([t('findings.band', limits(finding)), againstNormal(finding)]),
  tone: (finding) => {
    const values = { hertz: hertz(finding.hz ?? 0) }
    return listed([finding.new ? t('findings.newTone', values) : t('findings.strongerTone', values), againstNormal(finding)])
  },
  knocks: (finding) => {
    const rate = finding.per_second === null ? '' : t('findings.perSecond', { rate: figures(finding.per_second) })
    return listed([finding.new ? t('findings.newKnocks') : t('findings.strongerKnocks'), rate, from(finding), againstNormal(finding)])
  },
  modulation: (finding) => {
    const { per_second: rate } = finding
    const kind = rate === null ? t('findings.modulation') : t('findings.modulationRate', { rate: figures(rate) })
    return listed([kind, from(finding), againstNormal(finding)])
  },
}

/** "new tone at 130 Hz, 30 dB above normal" */
export function findingText(finding: Finding): string {
  return listed([WORDINGS[finding.code](finding), linesText(finding.lines)])
}

export function capitalised(text: string): string {
  return text.charAt(0).toLocaleUpperCase(locale()) + text.slice(1)
}

/** All of them in a sentence without its full stop; empty where there are none. */
export function findingsText(findings: readonly Finding[]): string {
  return capitalised(clauses(findings.map(findingText)))
}

/** An event in a line: the most important finding, or what the service says where there is none. */
export function eventText({ findings, message, sentence }: Pick<MachineEvent, 'findings' | 'message' | 'sentence'>): string {
  const [first, ...others] = findings
  if (!first) return translated(message, sentence)
  const finding = capitalised(findingText(first))
  return others.length ? t('findings.andMore', { finding, number: others.length }) : finding
}
