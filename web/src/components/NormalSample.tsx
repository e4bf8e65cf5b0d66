import { useMemo, useRef, useState } from 'react'
import type WaveSurfer from 'wavesurfer.js'
import type { Spectrogram } from '../api/types'
import { url } from '../api/client'
import { t } from '../i18n'
import { contrast } from '../lib/colour'
import { fixed } from '../lib/numbers'
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
  const ticks = [0, 0.5, 1].map((share) => ({ share, text: t('time.seconds', { seconds: fixed(share * seconds, 1) }) }))
  return (
    <Panel title={t('event.sample.title')}>
      {description && <p className="plain">{description}</p>}
      {columns && spectrogram && (
        <SpectrogramCanvas
          columns={columns}
          hz={spectrogram.hz}
          contrast={range}
          ticks={ticks}
          label={t('event.sample.spectrogram')}
          onSeek={(share) => player.current?.seekTo(Math.min(1, Math.max(0, share)))}
        >
          {head > 0 && <span className="head" style={{ left: `${head * 100}%` }} />}
        </SpectrogramCanvas>
      )}
      <div className="beneath">
        <Player
          title={t('event.sample.player')}
          src={url(`machines/${machine}/normal.flac`)}
          sampleRate={sampleRate}
          missing={t('event.sample.none')}
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
