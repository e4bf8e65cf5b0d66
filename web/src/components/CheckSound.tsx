import { remove, url } from '../api/client'
import { useLive, useReload } from '../api/useLive'
import { useMachineSound } from '../api/useMachineSound'
import { useAction } from '../lib/useAction'
import { LevelMeter } from './LevelMeter'
import { Panel } from './Panel'
import { ErrorMessage } from './ErrorMessage'
import { SpectrogramPanel } from './SpectrogramPanel'

/** Whether the right sound arrives, before anything is learned from it. */
export function CheckSound({ id, onGood, onBack }: { id: string; onGood: () => void; onBack: () => void }) {
  const reload = useReload()
  const action = useAction()
  const machine = useLive().machines[id]
  const sound = useMachineSound(machine ? id : null)
  const arrives = machine !== undefined && (machine.source.connected || machine.last_sound !== null)
  // To change its source, the machine is added again; nothing has been learned yet that could be lost.
  const goBack = async () => {
    await remove(url(`machines/${id}`))
    onBack()
    await reload()
  }
  return (
    <>
      <Panel title="Check the sound">
        <ErrorMessage message={action.error} />
        {machine && (
          <dl className="facts">
            <dt>Sound</dt>
            <dd>
              {arrives ? 'arriving' : 'not arriving yet'} · {machine.source.message}
            </dd>
            <dt>Level</dt>
            <dd>
              <LevelMeter level={machine.level_dbfs} sensor={machine.sensor} />
            </dd>
          </dl>
        )}
        {machine?.source.kind === 'microphone' && (
          <p className="plain">Knock near the microphone: the level and the spectrogram below should react.</p>
        )}
        <div className="buttons">
          <button type="button" disabled={action.busy} onClick={() => void action.run(goBack)}>
            Back
          </button>
          <button type="button" className="main" disabled={!arrives || action.busy} onClick={onGood}>
            This is the right sound
          </button>
        </div>
      </Panel>
      {machine && <SpectrogramPanel machine={machine} sound={sound} />}
    </>
  )
}
