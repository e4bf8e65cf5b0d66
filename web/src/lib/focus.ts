/** Where the focus goes when what had it is gone: whoever uses the keyboard, or hears the page, would begin at its top again. */
import { useLayoutEffect, useRef, type KeyboardEvent, type RefObject } from 'react'

/** What has a name of its own. */
const PARTS = 'section,main'

const isNowhere = () => document.activeElement === null || document.activeElement === document.body

/** Focuses an element that the Tab key passes by. */
export function focusOn(element: HTMLElement | null | undefined, options?: FocusOptions): void {
  if (!element) return
  if (!element.hasAttribute('tabindex')) element.tabIndex = -1
  element.focus(options)
}

/** For what opens something: it gets the focus again when that is closed. */
export function useReturnFocus<E extends HTMLElement>(isOpen: boolean): RefObject<E | null> {
  const opener = useRef<E>(null)
  const wasOpen = useRef(false)
  useLayoutEffect(() => {
    if (wasOpen.current && !isOpen && isNowhere()) opener.current?.focus()
    wasOpen.current = isOpen
  }, [isOpen])
  return opener
}

/** For what the Escape key closes. */
export function onEscape(close: () => void): (event: KeyboardEvent) => void {
  return (event) => {
    if (event.key === 'Escape') close()
  }
}

/**
 * Gives the focus back to a button that was disabled while it worked, and moves it from one that vanished
 * to the part of the page in which it was. Whoever left the page, or pointed elsewhere, is left alone.
 */
export function keepFocus(): void {
  let last: HTMLElement | null = null
  let parts: HTMLElement[] = [] // around it, from the inside
  let isWaiting = false
  const isGone = () => last !== null && (!last.isConnected || last.matches(':disabled'))
  const check = () => {
    isWaiting = false
    if (!last || !isNowhere()) return
    if (!last.isConnected) focusOn(parts.find((part) => part.isConnected), { preventScroll: true })
    else if (!last.matches(':disabled')) last.focus({ preventScroll: true })
  }
  document.addEventListener('focusin', ({ target }) => {
    if (!(target instanceof HTMLElement)) return
    last = target
    parts = []
    for (let part = target.closest<HTMLElement>(PARTS); part; part = part.parentElement?.closest<HTMLElement>(PARTS) ?? null) parts.push(part)
  })
  document.addEventListener('focusout', () =>
    // What is removed loses the focus before it is gone.
    queueMicrotask(() => {
      if (isNowhere() && !isGone()) last = null
    }),
  )
  document.addEventListener('pointerdown', ({ target }) => {
    if (last && !(target instanceof Node && last.contains(target))) last = null
  })
  new MutationObserver(() => {
    if (isWaiting || !last || !isNowhere()) return
    isWaiting = true
    requestAnimationFrame(check) // after components that know better where it belongs
  }).observe(document.body, { childList: true, subtree: true, attributes: true, attributeFilter: ['disabled'] })
}
