import { useMemo, useRef, useState } from 'react'
import type WaveSurfer from 'wavesurfer.js'
import type { MachineEvent, Spectrogram } from '../api/types'
import { url } from '../api/client'
import type { Fetched } from '../api/useFetched'
import { useZone } from '../api/useLive'
import { band } from '../lib/numbers'
import { clock } from '../lib/time'
import { bandShares } from '../lib/bands'
import { Empty } from './Empty'
import { Panel } from './Panel'
import { Player } from './Player'
import { SpectrogramCanvas } from './SpectrogramCanvas'

function timeMarks(spectrogram: Spectrogram, began: number, zone: string) {
  const length = spectrogram.columns.length * spectrogram.seconds_per_column
  const shares = [0, 0.25, 0.5, 0.75, 1]
  const marks = shares.map((share) => ({ share, text: clock(spectrogram.begin + share * length, zone) }))
  const share = (began - spectrogram.begin) / length
  return { marks, beganShare: share > 0 && share < 1 ? share : null }
}

interface Props {
  event: MachineEvent
  keepsAudio: boolean
  spectrogram: Fetched<Spectrogram>
  onDecoded: (sound: AudioBuffer | null) => void
}

/** What was heard: the picture with the map of oddness over it, and the recording below it. */
export function EventSound({ event, keepsAudio, spectrogram, onDecoded }: Props) {
  const zone = useZone()
  const { content, error } = spectrogram
  const [isShowingMap, setShowingMap] = useState(true)
  const [opacity, setOpacity] = useState(0.7)
  const [head, setHead] = useState(0)
  const player = useRef<WaveSurfer | null>(null)
  const scale = useMemo(() => content && timeMarks(content, event.began, zone), [content, event.began, zone])
  const bands = content ? bandShares(event.top_bands_hz, content.hz) : []
  const named = event.top_bands_hz.map(band).join(', ')
  return (
    <Panel
      title="What was heard"
      aside={
        content?.map && (
          <div className="buttons apart">
            <label className="inline">
              <input type="checkbox" checked={isShowingMap} onChange={(change) => setShowingMap(change.target.checked)} />{' '}
              Show what is odd
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
          map={content.map}
          opacity={isShowingMap ? opacity : 0}
          marks={scale.marks}
          label={`Spectrogram of the event${named ? `; oddest at ${named}` : ''}`}
          onSeek={(share) => player.current?.seekTo(Math.min(1, Math.max(0, share)))}
        >
          {scale.beganShare !== null && (
            <span className="began" style={{ left: `${scale.beganShare * 100}%` }}>
              began
            </span>
          )}
          {isShowingMap &&
            bands.map(([low, high]) => (
              <span key={low} className="odd-band" style={{ bottom: `${low * 100}%`, height: `${(high - low) * 100}%` }} />
            ))}
          {head > 0 && <span className="head" style={{ left: `${head * 100}%` }} />}
        </SpectrogramCanvas>
      ) : (
        <Empty title={error || 'Loading the picture…'} />
      )}
      {event.has_audio ? (
        <div className="beneath">
          <Player
            title="the event"
            missing="The recording cannot be played here."
            src={url(`events/${event.id}/audio`)}
            shortcut=" "
            onTime={(time, duration) => setHead(duration ? time / duration : 0)}
            onReady={(made) => {
              player.current = made
              onDecoded(made.getDecodedData())
            }}
          />
        </div>
      ) : (
        <p className="plain">
          {keepsAudio ? 'There is no recording of this event.' : 'This plant keeps no recordings, so there is nothing to play.'}
        </p>
      )}
      {named && (
        <p>
          Oddest at <strong>{named}</strong>.
        </p>
      )}
    </Panel>
  )
}
