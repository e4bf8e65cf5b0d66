import type { MachineStatus } from '../api/types'
import { url } from '../api/client'
import { useSpeed } from '../api/useLive'
import { lastSound } from '../lib/lastSound'
import { clockAccuracy, plural } from '../lib/numbers'
import { currentPointText } from '../lib/operatingPoints'
import { SOURCE_NAMES } from '../lib/sources'
import { LevelMeter } from './LevelMeter'
import { Panel } from './Panel'
import { SensorFacts } from './SensorFacts'

function arrival({ source, last_sound }: MachineStatus): string {
  if (!source.connected) return 'not arriving'
  return last_sound === null ? 'none yet' : 'arriving'
}

/** Where the sound comes from, and whether it arrives. */
export function SourcePanel({ machine, now }: { machine: MachineStatus; now: number }) {
  const { source } = machine
  const late = lastSound(machine, now, useSpeed())
  const exported = url('export', { machine: machine.id, begin: now - 7 * 86_400, end: now, format: 'csv' })
  return (
    <Panel title="Source and operation">
      <dl className="facts">
        <dt>Source</dt>
        <dd>{SOURCE_NAMES[source.kind] ?? source.kind}</dd>
        <dt>Sound</dt>
        <dd>
          {late || arrival(machine)} · {source.message}
        </dd>
        <dt>Level</dt>
        <dd>
          <LevelMeter level={machine.level_dbfs} sensor={machine.sensor} />
        </dd>
        {machine.sensor && <SensorFacts sensor={machine.sensor} />}
        <dt>Interruptions</dt>
        <dd>
          {plural(source.gaps, 'gap')}, {plural(source.reconnects, 'reconnection')}
        </dd>
        <dt>Source clock</dt>
        <dd>{clockAccuracy(source.drift_ppm)}</dd>
        <dt>Operating point</dt>
        <dd>{currentPointText(machine)}</dd>
        <dt>Model</dt>
        <dd>{machine.model || 'none yet'}</dd>
      </dl>
      <p>
        <a href={exported} download>
          Scores of the last week (CSV)
        </a>
      </p>
    </Panel>
  )
}
