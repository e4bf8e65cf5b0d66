import type { Machine } from '../api/types'
import { remove, url } from '../api/client'
import { useFetched } from '../api/useFetched'
import { useReload } from '../api/useLive'
import { useAction } from '../lib/useAction'
import { LevelMeter } from './LevelMeter'
import { Panel } from './Panel'
import { Problem } from './Problem'
import { WaterfallPanel } from './WaterfallPanel'

/** Whether the right sound arrives, before anything is learnt from it. */
export function CheckSound({ id, onGood, onBack }: { id: string; onGood: () => void; onBack: () => void }) {
  const reload = useReload()
  const action = useAction()
  const { content: machine, error } = useFetched<Machine>(url(`machines/${id}`), 1)
  const arrives = machine?.source.connected === true
  // A source is changed by adding the machine anew; nothing is learnt yet that could get lost.
  const goBack = async () => {
    await remove(url(`machines/${id}`))
    onBack()
    await reload()
  }
  return (
    <>
      <Panel title="Check the sound">
        <Problem words={action.error || error} />
        {machine && (
          <dl className="facts">
            <dt>Sound</dt>
            <dd>
              {arrives ? 'arrives' : 'does not arrive yet'} · {machine.source.words}
            </dd>
            <dt>Level</dt>
            <dd>
              <LevelMeter level={machine.level_dbfs} />
            </dd>
          </dl>
        )}
        {machine?.kind === 'microphone' && (
          <p className="plain">Knock near the microphone: the level and the picture below should answer.</p>
        )}
        <div className="buttons">
          <button type="button" disabled={action.busy} onClick={() => void action.run(goBack)}>
            Back
          </button>
          <button type="button" className="main" disabled={!arrives || action.busy} onClick={onGood}>
            It hears the right machine
          </button>
        </div>
      </Panel>
      {machine && <WaterfallPanel machine={machine} />}
    </>
  )
}
