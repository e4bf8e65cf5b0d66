import type { Finding } from '../api/types'
import { capitalised, findingText } from '../lib/findings'
import { ShortenedList } from './ShortenedList'

const MOST_SHOWN = 3

/** What has changed against the baseline, the most important first. */
export function Findings({ findings }: { findings: readonly Finding[] }) {
  return (
    <ShortenedList items={findings} most={MOST_SHOWN}>
      {(shown, id) => (
        <ul className="findings" id={id}>
          {shown.map((finding, index) => (
            <li key={index}>{capitalised(findingText(finding))}</li>
          ))}
        </ul>
      )}
    </ShortenedList>
  )
}
