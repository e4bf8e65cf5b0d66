import type { MachineStatus } from '../api/types'
import { url } from '../api/client'
import { useTimezone } from '../api/useLive'
import { useLines } from '../api/useLines'
import type { Sound } from '../api/useMachineSound'
import { t } from '../i18n'
import { isMeasured } from '../lib/lastSound'
import { clock } from '../lib/time'
import { EmptyState } from './EmptyState'
import { Panel } from './Panel'
import { SpectrogramCanvas } from './SpectrogramCanvas'
import { SpectrogramCursor } from './SpectrogramCursor'
import { said } from '../lib/sentences'

const SECONDS = 60

/** Of a time axis that ends now. */
export function lastMinuteTicks() {
  const past = [60, 45, 30, 15].map((seconds) => ({ share: 1 - seconds / SECONDS, text: t('spectrum.secondsAgo', { seconds }) }))
  return [...past, { share: 1, text: t('common.now') }]
}

export function SpectrogramPanel({ machine, sound }: { machine: MachineStatus; sound: Sound }) {
  const { spectrogram, error } = sound
  const zone = useTimezone()
  const lines = useLines(url(`machines/${machine.id}/lines`), true)
  const nothing = isMeasured(machine) ? t('spectrum.noMeasurement') : t('spectrum.noSound')
  const isEmpty = !spectrogram?.columns.some((column) => column !== null)
  return (
    <Panel title={t('spectrum.lastMinute')} className="half">
      {spectrogram && !isEmpty ? (
        <SpectrogramCanvas
          columns={spectrogram.columns}
          hz={spectrogram.hz}
          ticks={lastMinuteTicks()}
          label={t('spectrum.live', { machine: machine.name })}
        >
          <SpectrogramCursor
            columns={spectrogram.columns}
            hz={spectrogram.hz}
            lowDb={spectrogram.lowDb}
            highDb={spectrogram.highDb}
            timeText={(share) => clock(spectrogram.end - (1 - share) * SECONDS, zone)}
            lines={lines}
          />
        </SpectrogramCanvas>
      ) : (
        <EmptyState title={error || (spectrogram ? nothing : t('common.loading'))}>
          {spectrogram && <p>{said(machine.source)}</p>}
        </EmptyState>
      )}
    </Panel>
  )
}
