import { useEffect } from 'react'
import { useLive } from '../api/useLive'
import { beep, isSounding } from '../lib/beep'
import { unseenEvents } from '../lib/states'

/** Says new alarms to screen readers, counts them in the title, and sounds for those who want it. */
export function Announcer() {
  const { announcement, events, plant } = useLive()
  const count = unseenEvents(Object.values(events)).length
  useEffect(() => {
    document.title = `${count ? `(${count}) ` : ''}${plant?.name ?? 'ssdpt'}`
  }, [count, plant?.name])
  useEffect(() => {
    if (announcement && isSounding()) beep()
  }, [announcement])
  return (
    <div className="unseen" role="status" aria-live="assertive">
      {announcement}
    </div>
  )
}
