import type { Machine } from '../api/types'
import { url } from '../api/client'
import { useFetched } from '../api/useFetched'
import { LevelMeter } from './LevelMeter'
import { Panel } from './Panel'
import { Problem } from './Problem'
import { WaterfallPanel } from './WaterfallPanel'

/** Whether the right sound arrives, before anything is learnt from it. */
export function CheckSound({ id, onGood }: { id: string; onGood: () => void }) {
  const { content: machine, error } = useFetched<Machine>(url(`machines/${id}`), 1)
  const arrives = machine?.source.connected === true
  return (
    <>
      <Panel title="Check the sound">
        <Problem words={error} />
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
        <p className="plain">Knock near the microphone: the level and the picture below should answer.</p>
        <button type="button" className="main" disabled={!arrives} onClick={onGood}>
          It hears the right machine
        </button>
      </Panel>
      {machine && <WaterfallPanel machine={machine} />}
    </>
  )
}
