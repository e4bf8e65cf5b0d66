import type { MachineStatus } from '../api/types'
import type { Sound } from '../api/useMachineSound'
import { arriving } from '../lib/lastSound'
import { EmptyState } from './EmptyState'
import { Panel } from './Panel'
import { SpectrogramCanvas } from './SpectrogramCanvas'

const SECONDS = 60
const TICKS = [60, 45, 30, 15].map((ago) => ({ share: 1 - ago / SECONDS, text: `−${ago} s` })).concat({ share: 1, text: 'now' })

export function SpectrogramPanel({ machine, sound }: { machine: MachineStatus; sound: Sound }) {
  const { spectrogram, error } = sound
  const isEmpty = !spectrogram?.columns.some((column) => column !== null)
  return (
    <Panel title="Sound of the last minute" className="half">
      {spectrogram && !isEmpty ? (
        <SpectrogramCanvas
          columns={spectrogram.columns}
          hz={spectrogram.hz}
          ticks={TICKS}
          label={`Live spectrogram of ${machine.name}: time from left to right, frequency from bottom to top`}
        />
      ) : (
        <EmptyState title={error || (spectrogram ? `No ${arriving(machine)} in the last minute.` : 'Loading…')}>
          {spectrogram && <p>{machine.source.message}</p>}
        </EmptyState>
      )}
    </Panel>
  )
}
