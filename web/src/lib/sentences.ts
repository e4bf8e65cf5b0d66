/**
 * What the service says, in the language of the page.
 *
 * It sends every message as English text, and beside it the code and the values of its sentence. The other
 * languages have its text by code, in the area `sentences`; English is shown as it was sent.
 */
import i18next from 'i18next'
import type { CodedSentence } from '../api/types'
import { clauses, listed, t } from '../i18n'
import { language, locale } from '../i18n/language'

type SentValue = CodedSentence['values'][string]

/** The text of a sentence in the language of the page; as it was sent where it has no translation. */
export function translated(text: string, sentence: CodedSentence | null | undefined): string {
  return (sentence && translation(sentence)) ?? text
}

/** The message of something that the service sends. */
export function said({ message, sentence }: { message: string; sentence: CodedSentence | null }): string {
  return translated(message, sentence)
}

/** Lists of texts with their sentences, in the same order. */
export function allTranslated(texts: readonly string[], sentences: readonly (CodedSentence | null)[]): string[] {
  return texts.map((text, index) => translated(text, sentences[index]))
}

/** Null where the sentence, or one within it, is not known in this language. */
function translation({ code, values }: CodedSentence): string | null {
  const { count } = values
  const plural = typeof count === 'number' ? `_${new Intl.PluralRules(language()).select(count)}` : ''
  const key = [`sentences.${code}${plural}`, `sentences.${code}`].find((each) => i18next.exists(each))
  if (!key) return null
  const shown: Record<string, string> = {}
  for (const [name, value] of Object.entries(values)) {
    const text = valueText(value)
    if (text === null) return null
    shown[name] = text
  }
  return t(key, shown)
}

function valueText(value: SentValue): string | null {
  if (typeof value === 'string') return value
  if (typeof value === 'number') {
    const digits = Number.isInteger(value) ? {} : { maximumSignificantDigits: 6 }
    return new Intl.NumberFormat(locale(), digits).format(value)
  }
  if (!Array.isArray(value)) return translation(value)
  const texts = value.map(valueText)
  if (texts.includes(null)) return null
  const areSentences = value.some((each) => typeof each !== 'string')
  return (areSentences ? clauses : listed)(texts.map(String))
}
