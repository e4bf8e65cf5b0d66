import type { Sensor } from '../api/types'
import type { Trial } from '../api/useTrial'
import { t } from '../i18n'
import { ErrorMessage } from './ErrorMessage'
import { LevelMeter } from './LevelMeter'
import { LiveListening } from './LiveListening'
import { SpectrogramCanvas } from './SpectrogramCanvas'
import { lastMinuteTicks } from './SpectrogramPanel'
import { said } from '../lib/sentences'

interface Props {
  trial: Trial
  name: string
  sensor: Sensor | null
}

/** Whether sound arrives from a source on trial: how loud it is, how it sounds, and how it looks. */
export function TrialView({ trial, name, sensor }: Props) {
  const { status, spectrogram, error } = trial
  if (!status) return error ? <ErrorMessage message={error} /> : <p className="plain">{t('setup.trial.opening')}</p>
  const arrived = status.level_dbfs !== null
  return (
    <>
      <dl className="facts">
        <dt>{t('add.sound')}</dt>
        <dd>
          {arrived ? t('machine.source.arriving') : t('machine.source.notArrivingYet')} · {said(status)}
        </dd>
        <dt>{t('add.level')}</dt>
        <dd>
          <LevelMeter level={status.level_dbfs} sensor={sensor} />
        </dd>
      </dl>
      {arrived && status.listening !== 'snapshots' && (
        <LiveListening key={status.id} address={`trials/${status.id}/listen`} rate={status.sample_rate} possible={status.listening} />
      )}
      <ErrorMessage message={error} />
      {spectrogram && (
        <SpectrogramCanvas
          columns={spectrogram.columns}
          hz={spectrogram.hz}
          ticks={lastMinuteTicks()}
          label={t('setup.trial.picture', { name })}
        />
      )}
    </>
  )
}
