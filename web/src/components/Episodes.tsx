import type { Episode } from '../api/types'
import { capitalised } from '../lib/findings'
import { episodeSeconds, episodesText } from '../lib/episodes'
import { STATE_NAMES } from '../lib/states'
import { exactDuration, stamp } from '../lib/time'
import { Panel } from './Panel'
import { StateIcon } from './StateIcon'

interface Props {
  episodes: readonly Episode[]
  zone: string
  now: number
}

/** The stretches of an event that comes and goes; nothing for one that came once. */
export function Episodes({ episodes, zone, now }: Props) {
  const total = episodesText(episodes, now)
  if (!total) return null
  return (
    <Panel title="Episodes">
      <p>{capitalised(total)}.</p>
      <ol className="episodes">
        {episodes.map((episode) => (
          <li key={episode.began}>
            <time dateTime={new Date(episode.began * 1000).toISOString()}>{stamp(episode.began, zone)}</time>
            <span className={`badge small state-${episode.level}`}>
              <StateIcon state={episode.level} />
              {STATE_NAMES[episode.level]}
            </span>
            <span>
              {exactDuration(episodeSeconds(episode, now))}
              {episode.ended === null && ', active'}
            </span>
          </li>
        ))}
      </ol>
    </Panel>
  )
}
