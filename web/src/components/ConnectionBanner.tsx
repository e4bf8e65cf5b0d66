import { useLive } from '../api/useLive'

/** Says that what the page shows may be out of date. */
export function ConnectionBanner() {
  const { connected, connectionProblem, phase } = useLive()
  if (connected || !connectionProblem || phase === 'signed-out') return null
  return (
    <div className="connection" role="alert">
      <strong>Connection lost.</strong> What you see may be out of date. {connectionProblem} Trying again…
    </div>
  )
}
