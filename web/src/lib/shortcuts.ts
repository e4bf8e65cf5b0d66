import { useEffect, useRef } from 'react'

const PAUSE_MS = 1200
let typed = ''
let last = 0

/** Keys one after the other, e.g. "g o"; not while someone types. */
export function useShortcut(keys: string, action: (() => void) | null): void {
  const latest = useRef(action)
  useEffect(() => {
    latest.current = action
  })
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (typed === keys) {
        if (!latest.current) return
        event.preventDefault()
        latest.current()
      }
    }
    window.addEventListener('keydown', pressed)
    return () => window.removeEventListener('keydown', pressed)
  }, [keys])
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
}

/** The space key activates what has the focus. */
function isActivating(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && /^(BUTTON|A|SUMMARY)$/.test(target.tagName)
}

/** Must be called before any component uses shortcuts: it records what was typed. */
export function recordKeys(): void {
  window.addEventListener(
    'keydown',
    (event) => {
      const isHeld = event.ctrlKey || event.metaKey || event.altKey || event.repeat
      // Below a dialog there is nothing to work with; its own key closes it.
      const isBelowDialog = event.key !== '?' && document.querySelector('dialog[open]') !== null
      if (isHeld || isBelowDialog || isTyping(event.target) || (event.key === ' ' && isActivating(event.target))) {
        typed = ''
        return
      }
      const now = performance.now()
      typed = now - last < PAUSE_MS && typed === 'g' ? `g ${event.key}` : event.key
      last = now
    },
    { capture: true },
  )
}
