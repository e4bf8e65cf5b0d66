import { useContext, useEffect, useState } from 'react'
import type { MachineEvent, Spectrogram } from '../api/types'
import { url } from '../api/client'
import { useFetched } from '../api/useFetched'
import { LiveContext, useLive, useReload, useZone } from '../api/useLive'
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

const FRESH_SECONDS = 120

export function EventPage({ id }: { id: string }) {
  const { machines, events, plant } = useLive()
  const zone = useZone()
  const reload = useReload()
  const { clock } = useContext(LiveContext)
  const fetched = useFetched<MachineEvent>(url(`events/${id}`))
  const [sound, setSound] = useState<AudioBuffer | null>(null)
  const [changed, setChanged] = useState<MachineEvent | null>(null)
  const event = events[id] ?? changed ?? fetched.content
  const [hasPicture, setHasPicture] = useState(false)
  // What has just begun is still being recorded.
  const isFresh = event !== null && clock.now() - event.began < FRESH_SECONDS
  const spectrogram = useFetched<Spectrogram>(
    event && event.kind !== 'signal' ? url(`events/${id}/spectrogram`) : null,
    isFresh && !hasPicture ? 5 : 0,
  )
  useEffect(() => setHasPicture(spectrogram.content !== null), [spectrogram.content])
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
