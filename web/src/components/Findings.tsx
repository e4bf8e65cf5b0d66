import type { Finding } from '../api/types'
import { capitalised, findingText } from '../lib/findings'

/** What has changed against the baseline, the most important first. */
export function Findings({ findings }: { findings: readonly Finding[] }) {
  return (
    <ul className="findings">
      {findings.map((finding, index) => (
        <li key={index}>{capitalised(findingText(finding))}</li>
      ))}
    </ul>
  )
}
