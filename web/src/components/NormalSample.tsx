import { useMemo, useRef, useState } from 'react'
import type WaveSurfer from 'wavesurfer.js'
import type { Spectrogram } from '../api/types'
import { url } from '../api/client'
import { contrast } from '../lib/colour'
import { levels, onScaleOf } from '../lib/stft'
import { Panel } from './Panel'
import { Player } from './Player'
import { SpectrogramCanvas } from './SpectrogramCanvas'

interface Props {
  machine: string
  /** Hz at which both sounds are decoded. */
  sampleRate: number
  /** Of the event: the normal sample is drawn on the same scale. */
  spectrogram: Spectrogram | null
  /** The sound of the event, once decoded. */
  event: AudioBuffer | null
  /** What it is a sample of. */
  description: string
}

function columnsOf(normal: AudioBuffer, event: AudioBuffer, shown: Spectrogram): number[][] {
  const of = (sound: AudioBuffer) => levels(sound.getChannelData(0), sound.sampleRate, shown.hz, shown.seconds_per_column)
  return onScaleOf(of(normal), of(event), shown.columns, shown.low_db, shown.high_db)
}

/** The normal sound of the machine, to compare with. */
export function NormalSample({ machine, sampleRate, spectrogram, event, description }: Props) {
  const [normal, setNormal] = useState<AudioBuffer | null>(null)
  const [head, setHead] = useState(0)
  const player = useRef<WaveSurfer | null>(null)
  const columns = useMemo(
    () => (normal && event && spectrogram ? columnsOf(normal, event, spectrogram) : null),
    [normal, event, spectrogram],
  )
  const range = useMemo(() => spectrogram && contrast(spectrogram.columns), [spectrogram]) ?? undefined
  const seconds = normal?.duration ?? 0
  const ticks = [0, 0.5, 1].map((share) => ({ share, text: `${(share * seconds).toFixed(1)} s` }))
  return (
    <Panel title="Compare with a normal sample">
      {description && <p className="plain">{description}</p>}
      {columns && spectrogram && (
        <SpectrogramCanvas
          columns={columns}
          hz={spectrogram.hz}
          contrast={range}
          ticks={ticks}
          label="Spectrogram of a normal sample, on the scale of the event"
          onSeek={(share) => player.current?.seekTo(Math.min(1, Math.max(0, share)))}
        >
          {head > 0 && <span className="head" style={{ left: `${head * 100}%` }} />}
        </SpectrogramCanvas>
      )}
      <div className="beneath">
        <Player
          title="a normal sample"
          src={url(`machines/${machine}/normal.flac`)}
          sampleRate={sampleRate}
          missing="There is no normal sample of this machine yet."
          onTime={(time, duration) => setHead(duration ? time / duration : 0)}
          onReady={(ready) => {
            player.current = ready
            setNormal(ready.getDecodedData())
          }}
        />
      </div>
    </Panel>
  )
}
