import { useEffect, useRef, useState } from 'react'
import type { MachineStatus } from '../api/types'
import { CheckSound } from '../components/CheckSound'
import { LearnBaseline } from '../components/LearnBaseline'
import { MachineForm } from '../components/MachineForm'
import { useLive, useHasRole } from '../api/useLive'
import { EmptyState } from '../components/EmptyState'
import { focusOn } from '../lib/focus'
import { EMPTY_DRAFT } from '../lib/machineDraft'
import { t } from '../i18n'
import { ROLE_NAMES } from '../lib/roles'
import { link } from '../lib/route'
import { StateBadge } from '../components/StateBadge'
import { Panel } from '../components/Panel'

/** Below add.steps. */
const STEPS = ['source', 'check', 'learn', 'done'] as const

/** Adds a machine step by step. */
export function AddMachine() {
  const { machines } = useLive()
  const isAdmin = useHasRole('admin')
  const [step, setStep] = useState(0)
  const [draft, setDraft] = useState(EMPTY_DRAFT)
  const [id, setId] = useState('')
  const page = useRef<HTMLDivElement>(null)
  const shown = useRef(step)
  const machine: MachineStatus | undefined = machines[id]
  // The button that led here is gone; a field of the new step may have the focus already.
  useEffect(() => {
    if (shown.current === step) return
    shown.current = step
    const isIn = page.current?.contains(document.activeElement)
    if (!isIn) focusOn(page.current?.querySelector<HTMLElement>('section'))
  }, [step])
  if (!isAdmin)
    return (
      <EmptyState isPage title={t('add.needsRole', { role: ROLE_NAMES.admin })}>
        <a href={link('overview')}>{t('common.showOverview')}</a>
      </EmptyState>
    )
  return (
    <div ref={page} className="narrow">
      <h1>{t('add.title')}</h1>
      <ol className="steps">
        {STEPS.map((name, index) => (
          <li key={name} aria-current={index === step ? 'step' : undefined} className={index < step ? 'done' : ''}>
            {t(`add.steps.${name}`)}
          </li>
        ))}
      </ol>
      {step === 0 && <MachineForm draft={draft} title={t('add.steps.source')} onDraft={setDraft} onNext={() => setStep(1)} />}
      {step === 1 && (
        <CheckSound
          draft={draft}
          onBack={() => setStep(0)}
          onAdded={(added) => {
            setId(added)
            setStep(2)
          }}
        />
      )}
      {step === 2 && <LearnBaseline id={id} onDone={() => setStep(3)} />}
      {step === 3 && (
        <Panel title={t('add.monitored')}>
          {machine && <StateBadge state={machine.state} large />}
          <p>{t('add.provisional')}</p>
          <div className="buttons">
            <a className="button main" href={link('machine', id)}>
              {t('add.showMachine')}
            </a>
            <a className="button" href={link('overview')}>
              {t('common.showOverview')}
            </a>
          </div>
        </Panel>
      )}
    </div>
  )
}
