import { useLive } from '../api/useLive'
import { rich } from '../i18n/rich'

/** Says that what the page shows may be out of date. */
export function ConnectionBanner() {
  const { connected, connectionProblem, phase } = useLive()
  if (connected || !connectionProblem || phase === 'signed-out') return null
  return (
    <div className="connection" role="alert">
      {rich('common.connectionLost', { strong: (text) => <strong>{text}</strong> }, { problem: connectionProblem })}
    </div>
  )
}
