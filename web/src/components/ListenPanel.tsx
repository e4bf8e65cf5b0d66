import type { MachineStatus } from '../api/types'
import { useLive } from '../api/useLive'
import { t } from '../i18n'
import { KeptRecordings } from './KeptRecordings'
import { MachineListening } from './MachineListening'
import { Panel } from './Panel'

/** The id of the panel, for links to it. */
export const LISTEN = 'listen'

/** Hear a machine, and keep what was heard. */
export function ListenPanel({ machine }: { machine: MachineStatus }) {
  const { service } = useLive()
  return (
    <Panel title={t('listen.title')} id={LISTEN} className="wide listen">
      <MachineListening machine={machine} />
      {service?.drops_speech && <p className="plain">{t('listen.dropsSpeech')}</p>}
      <KeptRecordings machine={machine} />
    </Panel>
  )
}
