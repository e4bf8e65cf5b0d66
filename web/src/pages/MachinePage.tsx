import { useContext, useEffect } from 'react'
import type { Machine, MachineEvent } from '../api/types'
import { url } from '../api/client'
import { useFetched } from '../api/useFetched'
import { LiveContext, useLive, useMay, useNow, useSpeed, useZone } from '../api/useLive'
import { BASELINE, BaselinePanel } from '../components/BaselinePanel'
import { Empty } from '../components/Empty'
import { EventTable } from '../components/EventTable'
import { Gauge } from '../components/Gauge'
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
import { WaterfallPanel } from '../components/WaterfallPanel'
import { lastSound } from '../lib/lastSound'
import { rarity } from '../lib/numbers'
import { link } from '../lib/route'
import { standing, waitsToLearn } from '../lib/states'
import { duration, moment } from '../lib/time'

export function MachinePage({ id }: { id: string }) {
  const { machines } = useLive()
  const live = useContext(LiveContext)
  const zone = useZone()
  const now = useNow(5)
  const speed = useSpeed()
  const mayLearn = useMay('admin')
  const events = useFetched<MachineEvent[]>(url('events', { machine: id, limit: 200 }), 10)
  // Readings tell the score; level, source and operating point are asked for.
  const { content: asked } = useFetched<Machine>(machines[id] ? url(`machines/${id}`) : null, 2)
  useEffect(() => {
    if (asked) live.takeMachine(asked)
  }, [asked, live])
  const machine = machines[id]
  if (!machine)
    return (
      <Empty title={`No machine is called “${id}”.`}>
        <a href={link('overview')}>To the overview</a>
      </Empty>
    )
  const quiet = lastSound(machine, now, speed)
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
            {standing(machine)} For {duration(now - machine.state_since)}.
            {quiet && <strong> {quiet}.</strong>}
            {machine.muted_until && <strong> Muted until {moment(machine.muted_until, now, zone)}.</strong>}
          </p>
        </div>
        {machine.learning ? (
          <Progress done={machine.learning.seconds} wanted={machine.learning.wanted} />
        ) : waitsToLearn(machine) ? (
          mayLearn && (
            <div className="buttons">
              <button type="button" onClick={() => document.getElementById(BASELINE)?.focus()}>
                To its baseline
              </button>
            </div>
          )
        ) : (
          <div className="score">
            <Gauge value={machine.score} limits={machine.thresholds} />
            {machine.score !== null && <p className="soft">{rarity(machine.p_value)}</p>}
          </div>
        )}
      </header>
      <div className="panels">
        <TrendPanel machine={machine} events={events.content ?? []} />
        <WaterfallPanel machine={machine} />
        <SpectrumPanel machine={machine} />
        <OperatingPoints machine={machine} />
        <ThresholdPanel machine={machine} />
        <MutePanel machine={machine} />
        <BaselinePanel machine={machine} />
        <SourcePanel machine={machine} now={now} />
        <Panel title="Events" className="wide" aside={<a href={link('events', '', { machine: id })}>All events</a>}>
          {events.content?.length ? (
            <EventTable events={events.content.slice(0, 10)} withMachine={false} />
          ) : (
            <Empty title={events.error || 'No event yet.'} />
          )}
        </Panel>
        <RemoveMachine machine={machine} />
      </div>
    </>
  )
}
