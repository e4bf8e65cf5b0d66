import { useLive } from '../api/useLive'

/** What is wrong with the service itself, for as long as it is. */
export function TroubleBanner() {
  const troubles = useLive().plant?.troubles ?? []
  if (!troubles.length) return null
  return (
    <div className="troubles" role="alert">
      <strong>Needs attention</strong>
      <ul>
        {troubles.map((words) => (
          <li key={words}>{words}</li>
        ))}
      </ul>
    </div>
  )
}
