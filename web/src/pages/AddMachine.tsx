import { useState } from 'react'
import type { Machine } from '../api/types'
import { CheckSound } from '../components/CheckSound'
import { LearnNormal } from '../components/LearnNormal'
import { EMPTY_DRAFT, SourceForm } from '../components/SourceForm'
import { useLive, useMay } from '../api/useLive'
import { Empty } from '../components/Empty'
import { link } from '../lib/route'
import { StateBadge } from '../components/StateBadge'
import { Panel } from '../components/Panel'

const STEPS = ['Name and source', 'Check the sound', 'Learn the normal sound', 'Watch'] as const

/** From a microphone to a machine that is watched. */
export function AddMachine() {
  const { machines } = useLive()
  const may = useMay('admin')
  const [step, setStep] = useState(0)
  const [draft, setDraft] = useState(EMPTY_DRAFT)
  const [id, setId] = useState('')
  const machine: Machine | undefined = machines[id]
  if (!may)
    return (
      <Empty title="Machines are added by someone with the role admin.">
        <a href={link('overview')}>To the overview</a>
      </Empty>
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
          onMade={(made) => {
            setId(made)
            setStep(1)
          }}
        />
      )}
      {step === 1 && <CheckSound id={id} onGood={() => setStep(2)} onBack={() => setStep(0)} />}
      {step === 2 && <LearnNormal id={id} onLearnt={() => setStep(3)} />}
      {step === 3 && (
        <Panel title="It is watched from now on">
          {machine && <StateBadge state={machine.state} large />}
          <p>Limits follow from what was heard. The longer a machine runs, the better its normal sound is known.</p>
          <div className="buttons">
            <a className="button main" href={link('machine', id)}>
              To the machine
            </a>
            <a className="button" href={link('overview')}>
              To the overview
            </a>
          </div>
        </Panel>
      )}
    </div>
  )
}
