import { useEffect, useState } from 'react'
import type { MachineStatus } from '../api/types'
import { useTrial } from '../api/useTrial'
import { draftSensor, type MachineDraft } from '../lib/machineDraft'
import { t } from '../i18n'
import { LevelMeter } from './LevelMeter'
import { MachineListening } from './MachineListening'
import { TrialView } from './TrialView'

interface Props {
  machine: MachineStatus
  draft: MachineDraft
  /** As text: what would be saved. */
  settings: string
  /** Whether the source is the one in use. */
  unchanged: boolean
}

/** Level and sound before saving: of the source in use, or of the one that was entered. */
export function TrySource({ machine, draft, settings, unchanged }: Props) {
  const [tried, setTried] = useState<string | null>(null)
  // Another source is another trial, which a person starts.
  useEffect(() => setTried(null), [settings])
  const trial = useTrial(unchanged ? null : tried)
  if (unchanged)
    return (
      <div className="try-source">
        <p className="in-use">
          {t('setup.trial.unchanged')} <LevelMeter level={machine.level_dbfs} sensor={machine.sensor} />
        </p>
        {machine.listening !== 'snapshots' && <MachineListening machine={machine} />}
      </div>
    )
  return (
    <div className="try-source">
      <div className="buttons">
        <button type="button" onClick={() => setTried(tried === null ? settings : null)}>
          {tried === null ? t('setup.trial.start') : t('setup.trial.stop')}
        </button>
        <span className="soft">{t('setup.trial.nothingKept')}</span>
      </div>
      {tried !== null && <TrialView trial={trial} name={draft.name} sensor={draftSensor(draft)} />}
    </div>
  )
}
