import type { Episode } from '../api/types'
import { listed, t } from '../i18n'
import { capitalised } from '../lib/findings'
import { episodeSeconds, episodesText } from '../lib/episodes'
import { STATE_NAMES } from '../lib/states'
import { exactDuration, stamp } from '../lib/time'
import { Panel } from './Panel'
import { ShortenedList } from './ShortenedList'
import { StateIcon } from './StateIcon'

const MOST_SHOWN = 5

interface Props {
  episodes: readonly Episode[]
  zone: string
  now: number
}

/** The stretches of an event that comes and goes, the newest first; nothing for one that came once. */
export function Episodes({ episodes, zone, now }: Props) {
  const total = episodesText(episodes, now)
  if (!total) return null
  return (
    <Panel title={t('event.episodes.title')}>
      <p>{t('event.episodes.sentence', { episodes: capitalised(total) })}</p>
      <ShortenedList items={[...episodes].reverse()} most={MOST_SHOWN}>
        {(shown, id) => (
          <ol className="episodes" id={id}>
            {shown.map((episode) => (
              <li key={episode.began}>
                <time dateTime={new Date(episode.began * 1000).toISOString()}>{stamp(episode.began, zone)}</time>
                <span className={`badge small state-${episode.level}`}>
                  <StateIcon state={episode.level} />
                  {STATE_NAMES[episode.level]}
                </span>
                <span>{listed([exactDuration(episodeSeconds(episode, now)), episode.ended === null ? t('states.active') : ''])}</span>
              </li>
            ))}
          </ol>
        )}
      </ShortenedList>
    </Panel>
  )
}
