/** What the page says, by language. Texts lie in <language>/<area>.json, one file for each part of the page. */
import i18next from 'i18next'
import { texts as english } from './en'

export type Values = Record<string, string | number>

void i18next.init({
  lng: 'en',
  fallbackLng: 'en',
  initAsync: false,
  resources: { en: { translation: english } },
  interpolation: { escapeValue: false }, // React escapes
})

/** A text by its key, `area.name`; {{names}} in it are replaced by the values, `count` chooses the plural. */
export function t(key: string, values?: Values): string {
  return i18next.t(key, values ?? {})
}

/** The text of each name below a key, in the language of the moment it is read. */
export function named<Name extends string>(key: string, names: readonly Name[]): Readonly<Record<Name, string>> {
  const texts = {} as Record<Name, string>
  for (const name of names) Object.defineProperty(texts, name, { enumerable: true, get: () => t(`${key}.${name}`) })
  return texts
}

/** Phrases in a row, without the empty ones: "a, b, c". */
export function listed(phrases: readonly string[]): string {
  return phrases.filter(Boolean).join(t('common.comma'))
}

/** Longer phrases in a row, which may hold commas: "a, b; c". */
export function clauses(phrases: readonly string[]): string {
  return phrases.filter(Boolean).join(t('common.semicolon'))
}
