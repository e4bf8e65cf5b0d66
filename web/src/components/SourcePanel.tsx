import type { MachineStatus } from '../api/types'
import { url } from '../api/client'
import { useSpeed } from '../api/useLive'
import { listed, t } from '../i18n'
import { lastSound } from '../lib/lastSound'
import { clockAccuracy } from '../lib/numbers'
import { currentPointText } from '../lib/operatingPoints'
import { SOURCE_NAMES } from '../lib/sources'
import { LevelMeter } from './LevelMeter'
import { Panel } from './Panel'
import { SensorFacts } from './SensorFacts'
import { said } from '../lib/sentences'

function arrival({ source, last_sound }: MachineStatus): string {
  if (!source.connected) return t('machine.source.notArriving')
  return last_sound === null ? t('machine.source.noneYet') : t('machine.source.arriving')
}

/** Where the sound comes from, and whether it arrives. */
export function SourcePanel({ machine, now }: { machine: MachineStatus; now: number }) {
  const { source } = machine
  const late = lastSound(machine, now, useSpeed())
  const exported = url('export', { machine: machine.id, begin: now - 7 * 86_400, end: now, format: 'csv' })
  return (
    <Panel title={t('machine.source.title')}>
      <dl className="facts">
        <dt>{t('machine.source.source')}</dt>
        <dd>{SOURCE_NAMES[source.kind] ?? source.kind}</dd>
        <dt>{t('machine.source.sound')}</dt>
        <dd>
          {late || arrival(machine)} · {said(source)}
        </dd>
        <dt>{t('machine.source.level')}</dt>
        <dd>
          <LevelMeter level={machine.level_dbfs} sensor={machine.sensor} />
        </dd>
        {machine.sensor && <SensorFacts sensor={machine.sensor} />}
        {(source.gaps > 0 || source.reconnects > 0) && (
          <>
            <dt>{t('machine.source.interruptions')}</dt>
            <dd>
              {listed([t('machine.source.gaps', { count: source.gaps }), t('machine.source.reconnections', { count: source.reconnects })])}
            </dd>
          </>
        )}
        {Math.round(source.drift_ppm) !== 0 && (
          <>
            <dt>{t('machine.source.clock')}</dt>
            <dd>{clockAccuracy(source.drift_ppm)}</dd>
          </>
        )}
        {/* Snapshots are judged by limits of change: without a model and operating points. */}
        {machine.listening !== 'snapshots' && (
          <>
            <dt>{t('machine.source.point')}</dt>
            <dd>{currentPointText(machine)}</dd>
            <dt>{t('machine.source.model')}</dt>
            <dd>{machine.model || t('machine.source.noModel')}</dd>
          </>
        )}
      </dl>
      <p>
        <a href={exported} download>
          {t('machine.source.export')}
        </a>
      </p>
    </Panel>
  )
}
