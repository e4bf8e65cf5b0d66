import { useState, type FormEvent } from 'react'
import type { ChangeEffect, MachineDefinition, MachineStatus } from '../api/types'
import { post, put, url } from '../api/client'
import { useReload } from '../api/useLive'
import { onEscape, useReturnFocus } from '../lib/focus'
import { sameSource, toDraft, toSettings, type MachineDraft } from '../lib/machineDraft'
import { useAction } from '../lib/useAction'
import { go, link } from '../lib/route'
import { t } from '../i18n'
import { AlarmFields } from './AlarmFields'
import { ErrorMessage } from './ErrorMessage'
import { MachineDataFields } from './MachineDataFields'
import { MachineFields } from './MachineFields'
import { Panel } from './Panel'
import { SourceFields } from './SourceFields'
import { TrySource } from './TrySource'

interface Props {
  machine: MachineStatus
  definition: MachineDefinition
}

/** All settings of a machine that people need; read-only where the configuration file has them. */
export function EditMachineForm({ machine, definition }: Props) {
  const reload = useReload()
  const action = useAction()
  const before = toDraft(definition.settings)
  const [draft, setDraft] = useState(before)
  const [effect, setEffect] = useState<ChangeEffect['baseline']>('kept')
  const saving = useReturnFocus<HTMLButtonElement>(effect !== 'kept')
  const settings = toSettings(draft, definition.settings)
  const isFixed = definition.defined_in !== 'page'
  const change = (part: Partial<MachineDraft>) => {
    setEffect('kept')
    setDraft({ ...draft, ...part })
  }
  const save = (baseline?: 'keep' | 'new') =>
    action
      .run(async () => {
        await put(url(`machines/${machine.id}`, { baseline }), settings)
        await reload()
      })
      .then((done) => {
        if (done) go(link('machine', machine.id))
      })
  const send = (event: FormEvent) => {
    event.preventDefault()
    void action.run(async () => {
      const found = await post<ChangeEffect>(url(`machines/${machine.id}/settings/effect`), settings)
      if (found.baseline === 'kept') await save()
      else setEffect(found.baseline)
    })
  }
  return (
    <Panel title={t('setup.edit.panel')}>
      <form onSubmit={send}>
        <fieldset className="plain-fieldset" disabled={isFixed}>
          <MachineFields draft={draft} withId={false} onChange={change} />
          <SourceFields draft={draft} onChange={change} />
          {!isFixed && (
            <TrySource machine={machine} draft={draft} settings={JSON.stringify(settings)} unchanged={sameSource(draft, before)} />
          )}
          <AlarmFields alarm={draft.alarm} onChange={(alarm) => change({ alarm })} />
          <MachineDataFields value={draft.machineData} onChange={(machineData) => change({ machineData })} />
        </fieldset>
        <ErrorMessage message={action.error} />
        {effect !== 'kept' ? (
          <div className="confirm" role="group" aria-label={t('setup.edit.baselineTitle')} onKeyDown={onEscape(() => setEffect('kept'))}>
            <h3>{t('setup.edit.baselineTitle')}</h3>
            <p>{t(effect === 'ask' ? 'setup.edit.baselineAsk' : 'setup.edit.baselineNew')}</p>
            <div className="buttons">
              {effect === 'ask' && (
                <button type="button" className="main" disabled={action.busy} onClick={() => void save('keep')}>
                  {t('setup.edit.keep')}
                </button>
              )}
              <button type="button" className="danger" disabled={action.busy} onClick={() => void save('new')}>
                {t(effect === 'ask' ? 'setup.edit.discard' : 'setup.edit.discardOnly')}
              </button>
              <button type="button" autoFocus onClick={() => setEffect('kept')}>
                {t('setup.edit.notYet')}
              </button>
            </div>
          </div>
        ) : (
          !isFixed && (
            <div className="buttons">
              <button ref={saving} type="submit" className="main" disabled={action.busy}>
                {t('setup.edit.save')}
              </button>
              <a className="button" href={link('machine', machine.id)}>
                {t('common.cancel')}
              </a>
            </div>
          )
        )}
      </form>
    </Panel>
  )
}
