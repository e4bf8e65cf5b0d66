import { useMemo, useRef, useState } from 'react'
import type WaveSurfer from 'wavesurfer.js'
import type { EventSpectrogram, MachineEvent, Spectrogram } from '../api/types'
import { url } from '../api/client'
import type { Fetched } from '../api/useFetched'
import { useTimezone } from '../api/useLive'
import { useLines } from '../api/useLines'
import { listed, t } from '../i18n'
import { useLanguage } from '../i18n/language'
import { rich } from '../i18n/rich'
import { band, fixed } from '../lib/numbers'
import { clock, stamp } from '../lib/time'
import { bandShares } from '../lib/bands'
import { EmptyState } from './EmptyState'
import { EventDownloads } from './EventDownloads'
import { Panel } from './Panel'
import { Player } from './Player'
import { SpectrogramCanvas } from './SpectrogramCanvas'
import { SpectrogramCursor } from './SpectrogramCursor'

function timeTicks(spectrogram: Spectrogram, began: number, zone: string, atIntervals: boolean) {
  const length = spectrogram.columns.length * spectrogram.seconds_per_column
  const shares = [0, 0.25, 0.5, 0.75, 1]
  // Measurements end to end: a second of them is no second of the clock.
  const timeText = (share: number) =>
    atIntervals ? t('time.seconds', { seconds: fixed(share * length, 1) }) : clock(spectrogram.begin + share * length, zone)
  const ticks = shares.map((share) => ({ share, text: timeText(share) }))
  if (atIntervals) return { ticks, timeText, beganShare: null }
  const share = (began - spectrogram.begin) / length
  return { ticks, timeText, beganShare: share > 0 && share < 1 ? share : null }
}

interface Props {
  event: MachineEvent
  keepsAudio: boolean
  /** Whether the recording is of short measurements, end to end. */
  atIntervals: boolean
  /** Hz at which the recording is decoded. */
  sampleRate: number
  spectrogram: Fetched<EventSpectrogram>
  onDecoded: (sound: AudioBuffer | null) => void
}

/** The spectrogram with the anomaly map over it, and the recording below it. */
export function EventSound({ event, keepsAudio, atIntervals, sampleRate, spectrogram, onDecoded }: Props) {
  const zone = useTimezone()
  const { content, error } = spectrogram
  const lines = useLines(url(`events/${event.id}/lines`), false)
  const [isShowingMap, setShowingMap] = useState(true)
  const [opacity, setOpacity] = useState(0.7)
  const [head, setHead] = useState(0)
  const player = useRef<WaveSurfer | null>(null)
  const language = useLanguage()
  const scale = useMemo(
    () => content && timeTicks(content, event.began, zone, atIntervals),
    [content, event.began, zone, atIntervals, language],
  )
  const bands = content ? bandShares(event.top_bands_hz, content.hz) : []
  const named = listed(event.top_bands_hz.map(band))
  return (
    <Panel
      title={t('event.sound.title')}
      className="urgent"
      aside={
        content && content.anomaly_map.length > 0 && (
          <div className="buttons apart">
            <label className="inline">
              <input type="checkbox" checked={isShowingMap} onChange={(change) => setShowingMap(change.target.checked)} />{' '}
              {t('event.sound.showUnusual')}
            </label>
            <label className="inline">
              {t('event.sound.opacity')}{' '}
              <input
                type="range"
                min={0.1}
                max={1}
                step={0.05}
                value={opacity}
                disabled={!isShowingMap}
                onChange={(change) => setOpacity(Number(change.target.value))}
              />
            </label>
          </div>
        )
      }
    >
      {content && scale ? (
        <SpectrogramCanvas
          columns={content.columns}
          hz={content.hz}
          anomalyMap={content.anomaly_map}
          opacity={isShowingMap ? opacity : 0}
          ticks={scale.ticks}
          label={named ? t('event.sound.spectrogramWithBands', { bands: named }) : t('event.sound.spectrogram')}
          onSeek={(share) => player.current?.seekTo(Math.min(1, Math.max(0, share)))}
        >
          {scale.beganShare !== null && (
            <span className="began" style={{ left: `${scale.beganShare * 100}%` }}>
              {t('event.sound.began')}
            </span>
          )}
          {isShowingMap &&
            bands.map(([low, high]) => (
              <span key={low} className="anomaly-band" style={{ bottom: `${low * 100}%`, height: `${(high - low) * 100}%` }} />
            ))}
          <SpectrogramCursor
            columns={content.columns}
            hz={content.hz}
            lowDb={content.low_db}
            highDb={content.high_db}
            timeText={scale.timeText}
            lines={lines}
          />
          {head > 0 && <span className="head" style={{ left: `${head * 100}%` }} />}
        </SpectrogramCanvas>
      ) : (
        <EmptyState title={error || t('event.sound.loading')} />
      )}
      {atIntervals && content && (
        <p className="plain">{t('event.sound.measurements', { time: stamp(content.begin, zone) })}</p>
      )}
      {event.has_audio ? (
        <div className="beneath">
          <Player
            title={t('event.sound.player')}
            missing={t('event.sound.unplayable')}
            src={url(`events/${event.id}/audio`)}
            sampleRate={sampleRate}
            shortcut=" "
            onTime={(time, duration) => setHead(duration ? time / duration : 0)}
            onReady={(ready) => {
              player.current = ready
              onDecoded(ready.getDecodedData())
            }}
          />
        </div>
      ) : (
        <p className="plain">{keepsAudio ? t('event.sound.none') : t('event.sound.notKept')}</p>
      )}
      <EventDownloads event={event} zone={zone} hasPicture={content !== null} />
      {named && <p>{rich('event.sound.mostUnusual', { strong: (text) => <strong>{text}</strong> }, { bands: named })}</p>}
    </Panel>
  )
}
