import { useMemo, useRef, useState } from 'react'
import type WaveSurfer from 'wavesurfer.js'
import type { EventSpectrogram, MachineEvent, Spectrogram } from '../api/types'
import { url } from '../api/client'
import type { Fetched } from '../api/useFetched'
import { useTimezone } from '../api/useLive'
import { band } from '../lib/numbers'
import { clock, stamp } from '../lib/time'
import { bandShares } from '../lib/bands'
import { EmptyState } from './EmptyState'
import { Panel } from './Panel'
import { Player } from './Player'
import { SpectrogramCanvas } from './SpectrogramCanvas'

function timeTicks(spectrogram: Spectrogram, began: number, zone: string, atIntervals: boolean) {
  const length = spectrogram.columns.length * spectrogram.seconds_per_column
  const shares = [0, 0.25, 0.5, 0.75, 1]
  // Measurements end to end: a second of them is no second of the clock.
  if (atIntervals) return { ticks: shares.map((share) => ({ share, text: `${(share * length).toFixed(1)} s` })), beganShare: null }
  const ticks = shares.map((share) => ({ share, text: clock(spectrogram.begin + share * length, zone) }))
  const share = (began - spectrogram.begin) / length
  return { ticks, beganShare: share > 0 && share < 1 ? share : null }
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
  const [isShowingMap, setShowingMap] = useState(true)
  const [opacity, setOpacity] = useState(0.7)
  const [head, setHead] = useState(0)
  const player = useRef<WaveSurfer | null>(null)
  const scale = useMemo(
    () => content && timeTicks(content, event.began, zone, atIntervals),
    [content, event.began, zone, atIntervals],
  )
  const bands = content ? bandShares(event.top_bands_hz, content.hz) : []
  const named = event.top_bands_hz.map(band).join(', ')
  return (
    <Panel
      title="Recording"
      aside={
        content && content.anomaly_map.length > 0 && (
          <div className="buttons apart">
            <label className="inline">
              <input type="checkbox" checked={isShowingMap} onChange={(change) => setShowingMap(change.target.checked)} />{' '}
              Show what is unusual
            </label>
            <label className="inline">
              Opacity{' '}
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
          label={`Spectrogram of the event${named ? `; most unusual at ${named}` : ''}`}
          onSeek={(share) => player.current?.seekTo(Math.min(1, Math.max(0, share)))}
        >
          {scale.beganShare !== null && (
            <span className="began" style={{ left: `${scale.beganShare * 100}%` }}>
              began
            </span>
          )}
          {isShowingMap &&
            bands.map(([low, high]) => (
              <span key={low} className="anomaly-band" style={{ bottom: `${low * 100}%`, height: `${(high - low) * 100}%` }} />
            ))}
          {head > 0 && <span className="head" style={{ left: `${head * 100}%` }} />}
        </SpectrogramCanvas>
      ) : (
        <EmptyState title={error || 'Loading the spectrogram…'} />
      )}
      {atIntervals && content && (
        <p className="plain">The last measurements up to the event, end to end; the first is of {stamp(content.begin, zone)}.</p>
      )}
      {event.has_audio ? (
        <div className="beneath">
          <Player
            title="the event"
            missing="The recording cannot be played."
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
        <p className="plain">
          {keepsAudio ? 'There is no recording of this event.' : 'This service keeps no recordings.'}
        </p>
      )}
      {named && (
        <p>
          Most unusual at <strong>{named}</strong>.
        </p>
      )}
    </Panel>
  )
}
