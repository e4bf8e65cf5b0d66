import { useState } from 'react'
import { post, url } from '../api/client'
import { useReload } from '../api/useLive'
import { useTrial } from '../api/useTrial'
import { draftId, draftSensor, toSettings, type MachineDraft } from '../lib/machineDraft'
import { ROLE_NAMES } from '../lib/roles'
import { useAction } from '../lib/useAction'
import { t } from '../i18n'
import { ErrorMessage } from './ErrorMessage'
import { Panel } from './Panel'
import { TrialView } from './TrialView'

interface Props {
  draft: MachineDraft
  onAdded: (id: string) => void
  onBack: () => void
}

/** Whether the right sound arrives; only then the machine is added. Whoever leaves before leaves nothing behind. */
export function CheckSound({ draft, onAdded, onBack }: Props) {
  const reload = useReload()
  const action = useAction()
  const [isAdding, setAdding] = useState(false)
  const settings = toSettings(draft)
  const id = draftId(draft)
  // The source is closed before the machine opens it, as a sound card may allow one at a time; but what
  // is pushed must go somewhere meanwhile.
  const trial = useTrial(isAdding && draft.kind !== 'pushed' ? null : JSON.stringify(settings), !isAdding)
  const arrived = trial.status !== null && trial.status.level_dbfs !== null
  const add = async () => {
    setAdding(true)
    const done = await action.run(async () => {
      await post(url('machines'), settings)
      await reload()
    })
    if (done) onAdded(id)
    else setAdding(false)
  }
  return (
    <Panel title={t('add.steps.check')}>
      <TrialView trial={trial} name={draft.name} sensor={draftSensor(draft)} />
      {draft.kind === 'microphone' && <p className="plain">{t('add.knock')}</p>}
      {draft.kind === 'pushed' && !arrived && <HowToPush id={id} />}
      <ErrorMessage message={action.error} />
      <div className="buttons">
        <button type="button" disabled={action.busy} onClick={onBack}>
          {t('add.back')}
        </button>
        <button type="button" className="main" disabled={!arrived || action.busy} onClick={() => void add()}>
          {t('add.rightSound')}
        </button>
        {!arrived && (
          <button type="button" disabled={action.busy} onClick={() => void add()}>
            {t('setup.trial.later')}
          </button>
        )}
      </div>
    </Panel>
  )
}

/** For whoever has no sender yet: a command that can be copied as it is, up to the token. */
function HowToPush({ id }: { id: string }) {
  const address = new URL(url(`machines/${id}/audio`), document.baseURI).href
  return (
    <>
      <p className="plain">{t('setup.trial.pushTo')}</p>
      <pre className="command">{t('setup.trial.pushCommand', { address })}</pre>
      <p className="plain">{t('setup.trial.pushToken', { role: ROLE_NAMES.operator })}</p>
    </>
  )
}
