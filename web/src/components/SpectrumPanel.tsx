import { useMemo } from 'react'
import type { MachineStatus } from '../api/types'
import type { Sound } from '../api/useMachineSound'
import { useNow, useSpeed, useTimezone } from '../api/useLive'
import { arriving, lastSound } from '../lib/lastSound'
import { atCurrentPoint } from '../lib/operatingPoints'
import { comparison } from '../lib/spectrum'
import { date } from '../lib/time'
import { EmptyState } from './EmptyState'
import { Panel } from './Panel'
import { SpectrumChart } from './SpectrumChart'

export function SpectrumPanel({ machine, sound }: { machine: MachineStatus; sound: Sound }) {
  const { spectrum: content, error } = sound
  const zone = useTimezone()
  // The last sound of a lost source is not the sound of now.
  const isLost = machine.state === 'lost'
  const spectrum = useMemo(() => content && (isLost ? { ...content, now: [] } : content), [content, isLost])
  const at = atCurrentPoint(machine)
  const when = lastSound(machine, useNow(5), useSpeed()) ? `Last ${arriving(machine)}:` : 'Now'
  const baseline = machine.baseline ? `, baseline of ${date(machine.baseline.learned_at, zone)}` : ''
  return (
    <Panel title="Spectrum against the baseline" className="half">
      {spectrum?.hz.length ? (
        <SpectrumChart
          spectrum={spectrum}
          line="now"
          band={`normal${at}${baseline}`}
          summary={comparison(spectrum, machine.state, at, when)}
        />
      ) : (
        <EmptyState title={error || 'Loading…'} />
      )}
    </Panel>
  )
}
