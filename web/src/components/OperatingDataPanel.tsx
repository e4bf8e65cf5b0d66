import type { MachineStatus } from '../api/types'
import { useNow } from '../api/useLive'
import { named, t } from '../i18n'
import { ageWarning, loadText, runText, speedText } from '../lib/operatingData'
import { duration } from '../lib/time'
import { Panel } from './Panel'
import { said } from '../lib/sentences'

const KINDS: Readonly<Record<string, string>> = named('operating.kinds', ['mqtt', 'opcua', 'pushed'])

/** How the machine runs by its control system; nothing where none is connected. */
export function OperatingDataPanel({ machine }: { machine: MachineStatus }) {
  const now = useNow(1)
  const { operating_data: data, operating_data_source: source } = machine
  if (!source) return null
  const warning = ageWarning(machine, now)
  return (
    <Panel title={t('operating.title')}>
      {warning && <p className="warned">{warning}</p>}
      <dl className="facts">
        <dt>{t('operating.runState')}</dt>
        <dd>{runText(machine)}</dd>
        <dt>{t('operating.speed')}</dt>
        <dd>{speedText(data?.speed_rpm ?? null)}</dd>
        <dt>{t('operating.load')}</dt>
        <dd>{loadText(data?.load_percent ?? null)}</dd>
        {data && (
          <>
            <dt>{t('operating.reported')}</dt>
            <dd>{t('operating.ago', { age: duration(Math.max(0, now - data.at)) })}</dd>
          </>
        )}
        <dt>{t('operating.from')}</dt>
        <dd className={source.connected ? '' : 'warned'}>
          {t('operating.health', {
            kind: KINDS[source.kind] ?? source.kind,
            state: source.connected ? t('operating.connected') : t('operating.notConnected'),
            message: said(source),
          })}
        </dd>
      </dl>
      <p className="soft">{t('operating.explanation')}</p>
    </Panel>
  )
}
