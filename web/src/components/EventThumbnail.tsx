import { useState } from 'react'
import type { MachineEvent } from '../api/types'
import { url } from '../api/client'
import { link } from '../lib/route'

const [WIDTH, HEIGHT] = [112, 56]

/** The picture of an event, fetched when it comes into view; nothing where there is none. */
export function EventThumbnail({ event }: { event: MachineEvent }) {
  const [isMissing, setMissing] = useState(false)
  if (!event.has_audio || isMissing) return null
  return (
    // The date beside it is the link for keyboards and screen readers.
    <a href={link('event', event.id)} tabIndex={-1} aria-hidden="true">
      <img
        src={url(`events/${event.id}/picture.png`, { width: 2 * WIDTH, height: 2 * HEIGHT, labels: false })}
        width={WIDTH}
        height={HEIGHT}
        loading="lazy"
        alt=""
        onError={() => setMissing(true)}
      />
    </a>
  )
}
