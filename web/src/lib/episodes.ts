import type { Episode } from '../api/types'
import { t } from '../i18n'
import { exactDuration } from './time'

export function episodeSeconds({ began, ended }: Episode, now: number): number {
  return Math.max(0, (ended ?? now) - began)
}

/** "came 3 times, 2 min 10 s in all"; empty for an event that came once. */
export function episodesText(episodes: readonly Episode[], now: number): string {
  if (episodes.length < 2) return ''
  const total = episodes.reduce((sum, episode) => sum + episodeSeconds(episode, now), 0)
  return t('event.episodes.came', { count: episodes.length, duration: exactDuration(total) })
}
