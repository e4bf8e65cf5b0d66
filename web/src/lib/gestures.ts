/** Touch on the time axis of a chart: one finger moves it, two zoom it, a double tap resets it. */

export type Range = [number, number]

const TAP_MS = 350
const TAP_PIXELS = 24

/** The range that keeps the times under the fingers while these move, in pixels. */
export function dragged([begin, end]: Range, before: readonly number[], after: readonly number[], width: number): Range {
  const [from = 0, from2] = before
  const [to = 0, to2] = after
  const perPixel = (end - begin) / width
  // Fingers that meet would zoom out without end.
  const stretch = from2 === undefined || to2 === undefined ? 1 : Math.abs(from2 - from) / Math.max(Math.abs(to2 - to), 8)
  const middle = (from + (from2 ?? from)) / 2
  const newMiddle = (to + (to2 ?? to)) / 2
  const start = begin + perPixel * (middle - newMiddle * stretch)
  return [start, start + (end - begin) * stretch]
}

interface Gestures {
  range: () => Range
  /** While fingers move. */
  move: (range: Range) => void
  /** When the last finger is lifted. */
  done: (range: Range) => void
  reset: () => void
}

/** Touch on an element; scrolling up and down stays with the browser. */
export function addTouchGestures(element: HTMLElement, gestures: Gestures): void {
  element.style.touchAction = 'pan-y'
  const fingers = new Map<number, number>()
  let held: Range | null = null
  let tap = { time: 0, x: 0 }
  const place = (event: PointerEvent) => event.clientX - element.getBoundingClientRect().left
  element.addEventListener('pointerdown', (event) => {
    if (event.pointerType !== 'touch' || fingers.size === 2) return
    fingers.set(event.pointerId, place(event))
  })
  element.addEventListener('pointermove', (event) => {
    if (!fingers.has(event.pointerId)) return
    const before = [...fingers.values()]
    fingers.set(event.pointerId, place(event))
    held = dragged(held ?? gestures.range(), before, [...fingers.values()], element.clientWidth)
    gestures.move(held)
  })
  const lifted = (event: PointerEvent) => {
    if (!fingers.delete(event.pointerId)) return
    if (held) {
      if (fingers.size) return
      gestures.done(held)
      held = null
    } else if (event.type === 'pointerup') {
      const x = place(event)
      if (event.timeStamp - tap.time < TAP_MS && Math.abs(x - tap.x) < TAP_PIXELS) gestures.reset()
      tap = { time: event.timeStamp, x }
    }
  }
  element.addEventListener('pointerup', lifted)
  element.addEventListener('pointercancel', lifted)
}
