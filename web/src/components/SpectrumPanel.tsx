import { useMemo } from 'react'
import type { MachineStatus } from '../api/types'
import type { Sound } from '../api/useMachineSound'
import { useNow, useSpeed, useTimezone } from '../api/useLive'
import { t } from '../i18n'
import { isMeasured, lastSound } from '../lib/lastSound'
import { oneOfSeveral } from '../lib/operatingPoints'
import { comparison, normalBand } from '../lib/spectrum'
import { EmptyState } from './EmptyState'
import { Panel } from './Panel'
import { SpectrumChart } from './SpectrumChart'

export function SpectrumPanel({ machine, sound }: { machine: MachineStatus; sound: Sound }) {
  const { spectrum: content, error } = sound
  const zone = useTimezone()
  // The last sound of a lost source is not the sound of now.
  const isLost = machine.state === 'lost'
  const spectrum = useMemo(() => content && (isLost ? { ...content, now: [] } : content), [content, isLost])
  const point = oneOfSeveral(machine)
  const last = isMeasured(machine) ? 'lastMeasurement' : 'lastSound'
  const when = lastSound(machine, useNow(5), useSpeed()) ? last : 'now'
  return (
    <Panel title={t('spectrum.title')} className={machine.listening === 'snapshots' ? 'wide' : 'half'}>
      {spectrum?.hz.length ? (
        <SpectrumChart
          spectrum={spectrum}
          line={t('common.now')}
          band={normalBand(point, machine.baseline?.learned_at ?? null, zone)}
          summary={comparison(spectrum, machine.state, point, when)}
        />
      ) : (
        <EmptyState title={error || t('common.loading')} />
      )}
    </Panel>
  )
}
