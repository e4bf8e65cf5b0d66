import { useSyncExternalStore } from 'react'

export type Theme = 'auto' | 'light' | 'dark'

const KEY = 'ssdpt-theme'
const prefersDark = window.matchMedia('(prefers-color-scheme: dark)')
const listeners = new Set<() => void>()

export function chosen(): Theme {
  const kept = localStorage.getItem(KEY)
  return kept === 'light' || kept === 'dark' ? kept : 'auto'
}

function currentTheme(): 'light' | 'dark' {
  const theme = chosen()
  return theme === 'auto' ? (prefersDark.matches ? 'dark' : 'light') : theme
}

export function apply(): void {
  document.documentElement.dataset.theme = currentTheme()
  listeners.forEach((listener) => listener())
}

export function choose(theme: Theme): void {
  localStorage.setItem(KEY, theme)
  apply()
}

prefersDark.addEventListener('change', apply)

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Charts draw their own colours: they are created again when this changes. */
export function useTheme(): 'light' | 'dark' {
  return useSyncExternalStore(subscribe, currentTheme)
}

export function useChosenTheme(): Theme {
  return useSyncExternalStore(subscribe, chosen)
}

/** The font size in CSS pixels, for canvases. */
export function rem(): number {
  return parseFloat(getComputedStyle(document.documentElement).fontSize)
}

/** A colour of the style sheet, for canvases. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()
}
