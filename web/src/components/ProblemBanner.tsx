import { useLive } from '../api/useLive'

/** What is wrong with the service itself, while it is. */
export function ProblemBanner() {
  const problems = useLive().service?.problems ?? []
  if (!problems.length) return null
  return (
    <div className="service-problems" role="alert">
      <strong>Needs attention</strong>
      <ul>
        {problems.map((problem) => (
          <li key={problem}>{problem}</li>
        ))}
      </ul>
    </div>
  )
}
