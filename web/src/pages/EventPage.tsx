import { useEffect, useState } from 'react'
import type { MachineEvent, Spectrogram } from '../api/types'
import { url } from '../api/client'
import { useFetched } from '../api/useFetched'
import { useLive, useReload, useZone } from '../api/useLive'
import { Empty } from '../components/Empty'
import { EventActions } from '../components/EventActions'
import { EventSound } from '../components/EventSound'
import { LifeCycle } from '../components/LifeCycle'
import { NormalSample } from '../components/NormalSample'
import { Panel } from '../components/Panel'
import { StateBadge } from '../components/StateBadge'
import { score } from '../lib/numbers'
import { link } from '../lib/route'
import { EVENT_STATE_WORDS, KIND_WORDS } from '../lib/states'
import { stamp } from '../lib/time'

export function EventPage({ id }: { id: string }) {
  const { machines, events, plant } = useLive()
  const zone = useZone()
  const reload = useReload()
  const fetched = useFetched<MachineEvent>(url(`events/${id}`))
  const [sound, setSound] = useState<AudioBuffer | null>(null)
  const [changed, setChanged] = useState<MachineEvent | null>(null)
  const event = events[id] ?? changed ?? fetched.content
  // Once it is closed it is no longer told: what was told last holds until it is asked for again.
  const told = events[id] ?? null
  useEffect(() => {
    if (told) setChanged(told)
    else if (fetched.content) fetched.again()
  }, [told])
  useEffect(() => setChanged(null), [fetched.content])
  const spectrogram = useFetched<Spectrogram>(event && event.kind !== 'signal' ? url(`events/${id}/spectrogram`) : null)
  // The picture is made with the recording, some seconds after an event began.
  const isRecorded = event?.has_audio ?? false
  const { error: missing, again } = spectrogram
  useEffect(() => {
    if (isRecorded && missing) again()
  }, [isRecorded, Boolean(missing), again])
  if (!event)
    return (
      <Empty title={fetched.error || 'Loading the event…'}>
        <a href={link('events')}>All events</a>
      </Empty>
    )
  const machine = machines[event.machine]
  const hasSound = event.kind !== 'signal'
  const keepsAudio = plant?.keeps_audio ?? true
  const take = (now: MachineEvent) => {
    setChanged(now)
    void reload().then(() => fetched.again())
  }
  return (
    <>
      <header className={`page-head state-${event.level}`}>
        <div className="title">
          <h1>
            {KIND_WORDS[event.kind]}: <a href={link('machine', event.machine)}>{machine?.name || event.machine}</a>
          </h1>
          <p className="soft">
            {stamp(event.began, zone)} {machine?.site && `· ${machine.site}`}
          </p>
        </div>
        <div className="standing">
          <StateBadge state={event.level} large />
          <p>
            {EVENT_STATE_WORDS[event.state]}
            {event.ended === null ? ', goes on.' : ', over.'}
          </p>
        </div>
        {event.peak !== null && (
          <dl className="figures">
            <div>
              <dt>Peak score</dt>
              <dd className="now">{score(event.peak)}</dd>
            </div>
            <div>
              <dt>Limit passed</dt>
              <dd>{score(event.threshold)}</dd>
            </div>
          </dl>
        )}
      </header>
      <p className="lead">{event.words}</p>
      <div className={hasSound ? 'event-columns' : 'narrow'}>
        {hasSound && (
          <div className="column">
            <EventSound event={event} keepsAudio={keepsAudio} spectrogram={spectrogram} onDecoded={setSound} />
            {keepsAudio && <NormalSample machine={event.machine} spectrogram={spectrogram.content} event={sound} />}
          </div>
        )}
        <div className="column">
          <Panel title="What to do">
            <EventActions event={event} onChange={take} />
          </Panel>
          <Panel title="Life of the event">
            <LifeCycle event={event} zone={zone} />
          </Panel>
        </div>
      </div>
    </>
  )
}
