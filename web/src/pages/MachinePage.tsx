import { useEvents } from '../api/useEvents'
import { useHasRole, useLive, useNow, useSpeed, useTimezone } from '../api/useLive'
import { useMachineSound } from '../api/useMachineSound'
import { BASELINE, BaselinePanel } from '../components/BaselinePanel'
import { Condition } from '../components/Condition'
import { EmptyState } from '../components/EmptyState'
import { EventTable } from '../components/EventTable'
import { Gauge } from '../components/Gauge'
import { HealthQuestion } from '../components/HealthQuestion'
import { MutePanel } from '../components/MutePanel'
import { OperatingPoints } from '../components/OperatingPoints'
import { Panel } from '../components/Panel'
import { Progress } from '../components/Progress'
import { RemoveMachine } from '../components/RemoveMachine'
import { SourcePanel } from '../components/SourcePanel'
import { SpectrumPanel } from '../components/SpectrumPanel'
import { StateBadge } from '../components/StateBadge'
import { ThresholdPanel } from '../components/ThresholdPanel'
import { TrendPanel } from '../components/TrendPanel'
import { SpectrogramPanel } from '../components/SpectrogramPanel'
import { lastSound } from '../lib/lastSound'
import { rarity } from '../lib/numbers'
import { link } from '../lib/route'
import { mutedUntil, needsBaseline, STATE_NAMES, stateSentence } from '../lib/states'
import { duration, moment } from '../lib/time'

export function MachinePage({ id }: { id: string }) {
  const { machines } = useLive()
  const zone = useTimezone()
  const now = useNow(5)
  const speed = useSpeed()
  const isAdmin = useHasRole('admin')
  const { events, error } = useEvents({ machine: id, kind: '', open: false }, 200)
  const sound = useMachineSound(machines[id] ? id : null)
  const machine = machines[id]
  if (!machine)
    return (
      <EmptyState title={`There is no machine “${id}”.`}>
        <a href={link('overview')}>Show the overview</a>
      </EmptyState>
    )
  const late = lastSound(machine, now, speed)
  const until = mutedUntil(machine, now)
  return (
    <>
      <header className={`page-head state-${machine.state}`}>
        <div className="title">
          <h1>{machine.name || machine.id}</h1>
          <p className="soft">{[machine.site, machine.id].filter(Boolean).join(' · ')}</p>
        </div>
        <div className="standing">
          <StateBadge state={machine.state} large />
          <p>
            {stateSentence(machine)} {STATE_NAMES[machine.state]} for {duration(now - machine.state_since)}.
            {late && <strong> {late}.</strong>}
            {until !== null && <strong> Muted until {moment(until, now, zone)}.</strong>}
          </p>
        </div>
        {machine.learning ? (
          <Progress seconds={machine.learning.seconds} target={machine.learning.target_seconds} />
        ) : needsBaseline(machine) ? (
          isAdmin && (
            <div className="buttons">
              <button type="button" onClick={() => document.getElementById(BASELINE)?.focus()}>
                Learn a baseline…
              </button>
            </div>
          )
        ) : (
          <div className="score">
            <Gauge value={machine.smoothed} thresholds={machine.thresholds} />
            {machine.smoothed !== null && <p className="soft">{rarity(machine.p_value)}</p>}
            <Condition severity={machine.severity} outlook={machine.outlook} now={now} />
          </div>
        )}
      </header>
      <HealthQuestion machine={machine} />
      <div className="panels">
        <TrendPanel machine={machine} events={events ?? []} />
        <SpectrogramPanel machine={machine} sound={sound} />
        <SpectrumPanel machine={machine} sound={sound} />
        <OperatingPoints machine={machine} />
        <ThresholdPanel machine={machine} />
        <MutePanel machine={machine} />
        <BaselinePanel machine={machine} />
        <SourcePanel machine={machine} now={now} />
        <Panel title="Events" className="wide" aside={<a href={link('events', '', { machine: id })}>All events</a>}>
          {events?.length ? (
            <EventTable events={events.slice(0, 10)} withMachine={false} />
          ) : (
            <EmptyState title={error || (events ? 'No events yet.' : 'Loading…')} />
          )}
        </Panel>
        <RemoveMachine machine={machine} />
      </div>
    </>
  )
}
