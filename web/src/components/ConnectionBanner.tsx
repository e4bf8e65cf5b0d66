import { useLive } from '../api/useLive'

/** A page that shows old states must say so. */
export function ConnectionBanner() {
  const { connected, trouble, phase } = useLive()
  if (connected || !trouble || phase === 'signed-out') return null
  return (
    <div className="connection" role="alert">
      <strong>Connection lost.</strong> What you see may be out of date. {trouble} Trying again…
    </div>
  )
}
