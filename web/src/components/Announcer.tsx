import { useEffect } from 'react'
import { useLive } from '../api/useLive'
import { beep, isToneOn } from '../lib/beep'
import { unacknowledgedEvents } from '../lib/states'

/** Announces new alarms to screen readers, counts them in the title, and plays a tone if switched on. */
export function Announcer() {
  const { announcement, events, service } = useLive()
  const count = unacknowledgedEvents(Object.values(events)).length
  useEffect(() => {
    document.title = `${count ? `(${count}) ` : ''}${service?.name ?? 'ssdpt'}`
  }, [count, service?.name])
  useEffect(() => {
    if (announcement && isToneOn()) beep()
  }, [announcement])
  return (
    <div className="unseen" role="status" aria-live="assertive">
      {announcement}
    </div>
  )
}
