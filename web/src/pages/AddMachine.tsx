import { useState } from 'react'
import type { MachineStatus } from '../api/types'
import { CheckSound } from '../components/CheckSound'
import { LearnBaseline } from '../components/LearnBaseline'
import { EMPTY_DRAFT, SourceForm } from '../components/SourceForm'
import { useLive, useHasRole } from '../api/useLive'
import { EmptyState } from '../components/EmptyState'
import { link } from '../lib/route'
import { StateBadge } from '../components/StateBadge'
import { Panel } from '../components/Panel'

const STEPS = ['Name and source', 'Check the sound', 'Learn a baseline', 'Done'] as const

/** Adds a machine step by step. */
export function AddMachine() {
  const { machines } = useLive()
  const isAdmin = useHasRole('admin')
  const [step, setStep] = useState(0)
  const [draft, setDraft] = useState(EMPTY_DRAFT)
  const [id, setId] = useState('')
  const machine: MachineStatus | undefined = machines[id]
  if (!isAdmin)
    return (
      <EmptyState title="To add a machine you need the role admin.">
        <a href={link('overview')}>Show the overview</a>
      </EmptyState>
    )
  return (
    <div className="narrow">
      <h1>Add a machine</h1>
      <ol className="steps">
        {STEPS.map((name, index) => (
          <li key={name} aria-current={index === step ? 'step' : undefined} className={index < step ? 'done' : ''}>
            {name}
          </li>
        ))}
      </ol>
      {step === 0 && (
        <SourceForm
          draft={draft}
          onDraft={setDraft}
          onAdded={(added) => {
            setId(added)
            setStep(1)
          }}
        />
      )}
      {step === 1 && <CheckSound id={id} onGood={() => setStep(2)} onBack={() => setStep(0)} />}
      {step === 2 && <LearnBaseline id={id} onDone={() => setStep(3)} />}
      {step === 3 && (
        <Panel title="The machine is monitored">
          {machine && <StateBadge state={machine.state} large />}
          <p>The first thresholds are provisional. They improve after a day of normal running.</p>
          <div className="buttons">
            <a className="button main" href={link('machine', id)}>
              Show the machine
            </a>
            <a className="button" href={link('overview')}>
              Show the overview
            </a>
          </div>
        </Panel>
      )}
    </div>
  )
}
