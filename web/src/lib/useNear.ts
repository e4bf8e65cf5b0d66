import { useEffect, useRef, useState, type RefObject } from 'react'

const listeners = new WeakMap<Element, (isNear: boolean) => void>()
let observer: IntersectionObserver | null = null

/** One for all elements: a page may have hundreds. */
function shared(): IntersectionObserver {
  observer ??= new IntersectionObserver(
    (entries) => entries.forEach((entry) => listeners.get(entry.target)?.(entry.isIntersecting)),
    { rootMargin: '50%' }, // of the screen, so that what is scrolled to has been drawn
  )
  return observer
}

/** Whether an element is on the screen or close to it; always, where the browser cannot tell. */
export function useNear<T extends Element>(): { ref: RefObject<T | null>; isNear: boolean } {
  const ref = useRef<T>(null)
  const [isNear, setNear] = useState(true)
  useEffect(() => {
    const element = ref.current
    if (!element || !('IntersectionObserver' in window)) return
    listeners.set(element, setNear)
    shared().observe(element)
    return () => shared().unobserve(element)
  }, [])
  return { ref, isNear }
}
