/** The language of the page: that of the browser, until another one is chosen in the settings. */
import i18next from 'i18next'
import { useSyncExternalStore } from 'react'
import type { Texts } from './catalogue'

/** Each by its own name. */
export const LANGUAGES = { en: 'English', de: 'Deutsch', es: 'Español', ja: '日本語' } as const
export type Language = keyof typeof LANGUAGES

/** How numbers and dates are written. */
const LOCALES: Record<Language, string> = { en: 'en-GB', de: 'de-DE', es: 'es-ES', ja: 'ja-JP' }

/** Loaded when chosen: most people need one language only. */
const OTHERS: Record<Exclude<Language, 'en'>, () => Promise<{ texts: Texts }>> = {
  de: () => import('./de'),
  es: () => import('./es'),
  ja: () => import('./ja'),
}

const KEY = 'ssdpt-language'
const listeners = new Set<() => void>()

function isLanguage(name: string): name is Language {
  return name in LANGUAGES
}

export function language(): Language {
  return isLanguage(i18next.language) ? i18next.language : 'en'
}

export function locale(): string {
  return LOCALES[language()]
}

/** Of the languages that someone reads, the first that the page has: de for de-AT. */
export function preferredLanguage(read: readonly string[]): Language {
  return read.map((name) => name.toLowerCase().split('-')[0] ?? '').find(isLanguage) ?? 'en'
}

/** Shows the page in a language, without loading it again. */
export async function showLanguage(name: Language): Promise<void> {
  if (name !== 'en' && !i18next.hasResourceBundle(name, 'translation'))
    i18next.addResourceBundle(name, 'translation', (await OTHERS[name]()).texts)
  await i18next.changeLanguage(name)
  document.documentElement.lang = name
  listeners.forEach((listener) => listener())
}

/** As chosen before on this computer, else as the browser asks for. */
export function startLanguage(): Promise<void> {
  const kept = localStorage.getItem(KEY) ?? ''
  return showLanguage(isLanguage(kept) ? kept : preferredLanguage(navigator.languages))
}

export async function chooseLanguage(name: Language): Promise<void> {
  await showLanguage(name)
  localStorage.setItem(KEY, name)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Renders again when the language changes. */
export function useLanguage(): Language {
  return useSyncExternalStore(subscribe, language)
}
