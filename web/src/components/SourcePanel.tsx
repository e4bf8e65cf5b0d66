import type { Machine } from '../api/types'
import { url } from '../api/client'
import { useSpeed } from '../api/useLive'
import { lastSound } from '../lib/lastSound'
import { plural } from '../lib/numbers'
import { runsAt } from '../lib/points'
import { LevelMeter } from './LevelMeter'
import { Panel } from './Panel'

function arrival({ source, last_sound }: Machine): string {
  if (!source.connected) return 'does not arrive'
  return last_sound === null ? 'none yet' : 'arrives'
}

/** Where the sound comes from and how well it arrives. */
export function SourcePanel({ machine, now }: { machine: Machine; now: number }) {
  const { source } = machine
  const quiet = lastSound(machine, now, useSpeed())
  const exported = url('export', { machine: machine.id, begin: now - 7 * 86_400, end: now, format: 'csv' })
  return (
    <Panel title="Source and operation">
      <dl className="facts">
        <dt>Sound</dt>
        <dd>
          {quiet || arrival(machine)} · {source.words}
        </dd>
        <dt>Level</dt>
        <dd>
          <LevelMeter level={machine.level_dbfs} />
        </dd>
        <dt>Breaks</dt>
        <dd>
          {plural(source.gaps, 'gap')}, {plural(source.reconnects, 'reconnection')}
        </dd>
        <dt>Clock</dt>
        <dd>{Math.abs(source.drift_ppm).toFixed(0)} ppm {source.drift_ppm < 0 ? 'slow' : 'fast'}</dd>
        <dt>Operating point</dt>
        <dd>{runsAt(machine)}</dd>
        <dt>Kind</dt>
        <dd>{machine.kind || '–'}</dd>
        <dt>Judged by</dt>
        <dd>{machine.model || 'nothing yet'}</dd>
      </dl>
      <p>
        <a href={exported} download>
          Scores of the last week (CSV)
        </a>
      </p>
    </Panel>
  )
}
