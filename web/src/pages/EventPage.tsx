import { useEffect, useState } from 'react'
import type { EventSpectrogram, MachineEvent } from '../api/types'
import { url } from '../api/client'
import { useFetched } from '../api/useFetched'
import { useLive, useNow, useReload, useTimezone } from '../api/useLive'
import { Condition } from '../components/Condition'
import { DiagnosisPanel } from '../components/DiagnosisPanel'
import { EmptyState } from '../components/EmptyState'
import { Episodes } from '../components/Episodes'
import { EventActions } from '../components/EventActions'
import { EventDetails } from '../components/EventDetails'
import { EventSound } from '../components/EventSound'
import { EventSpectrum } from '../components/EventSpectrum'
import { EventTimeline } from '../components/EventTimeline'
import { Findings } from '../components/Findings'
import { NormalSample } from '../components/NormalSample'
import { Panel } from '../components/Panel'
import { StateBadge } from '../components/StateBadge'
import { t } from '../i18n'
import { rich } from '../i18n/rich'
import { comparedWith, sampleText } from '../lib/baseline'
import { score } from '../lib/numbers'
import { link } from '../lib/route'
import { decodingRate } from '../lib/sensor'
import { said } from '../lib/sentences'
import { eventSentence, kindName } from '../lib/states'
import { stamp } from '../lib/time'

export function EventPage({ id }: { id: string }) {
  const { machines, events, service } = useLive()
  const zone = useTimezone()
  const now = useNow(5)
  const reload = useReload()
  const fetched = useFetched<MachineEvent>(url(`events/${id}`))
  const [sound, setSound] = useState<AudioBuffer | null>(null)
  const [changed, setChanged] = useState<MachineEvent | null>(null)
  const event = events[id] ?? changed ?? fetched.content
  useEffect(() => setChanged(null), [fetched.content])
  const spectrogram = useFetched<EventSpectrogram>(event && event.kind !== 'signal' ? url(`events/${id}/spectrogram`) : null)
  // The spectrogram is made with the recording, some seconds after an event began.
  const isRecorded = event?.has_audio ?? false
  const { error: missing, refetch } = spectrogram
  useEffect(() => {
    if (isRecorded && missing) refetch()
  }, [isRecorded, Boolean(missing), refetch])
  if (!event)
    return (
      <EmptyState isPage title={fetched.error || t('event.loading')}>
        <a href={link('events')}>{t('event.allEvents')}</a>
      </EmptyState>
    )
  const machine = machines[event.machine]
  const hasSound = event.kind !== 'signal'
  const sampleRate = decodingRate(machine?.sensor ?? null)
  const keepsAudio = service?.keeps_audio ?? true
  const take = (after: MachineEvent) => {
    setChanged(after)
    void reload().then(() => fetched.refetch())
  }
  return (
    <>
      <header className={`page-head state-${event.level}`}>
        <div className="title">
          <h1>
            {rich(
              'event.title',
              { a: (text) => <a href={link('machine', event.machine)}>{text}</a> },
              { kind: kindName(event.kind, machine), machine: machine?.name || event.machine },
            )}
          </h1>
          <p className="soft">
            {stamp(event.began, zone)} {machine?.site && `· ${machine.site}`}
          </p>
        </div>
        <div className="standing">
          <StateBadge state={event.level} large />
          <p>{eventSentence(event)}</p>
        </div>
        {event.peak !== null && (
          <div>
            <dl className="figures">
              <div>
                <dt>{t('event.peak')}</dt>
                <dd className="now">{score(event.peak)}</dd>
              </div>
              {event.threshold !== null && (
                <div>
                  <dt>{t('event.threshold')}</dt>
                  <dd>{score(event.threshold)}</dd>
                </div>
              )}
            </dl>
            {event.kind === 'anomaly' && event.threshold === null && <p className="soft">{t('event.byChange')}</p>}
            <Condition severity={event.severity} outlook={null} now={now} />
          </div>
        )}
      </header>
      {!event.findings.length && <p className="lead">{said(event)}</p>}
      <div className={hasSound ? 'event-columns' : 'narrow'}>
        {hasSound && (
          <div className="column">
            {event.findings.length > 0 && (
              <Panel title={t('event.whatHasChanged')} className="urgent" aside={<span className="plain">{comparedWith(event.baseline_learned_at, zone)}</span>}>
                <Findings findings={event.findings} />
              </Panel>
            )}
            <EventSound
              event={event}
              keepsAudio={keepsAudio}
              atIntervals={machine?.sensor?.at_intervals ?? false}
              sampleRate={sampleRate}
              spectrogram={spectrogram}
              onDecoded={setSound}
            />
            {machine && spectrogram.content && (
              <EventSpectrum event={event} machine={machine} spectrogram={spectrogram.content} zone={zone} />
            )}
            {keepsAudio && (
              <NormalSample
                machine={event.machine}
                sampleRate={sampleRate}
                spectrogram={spectrogram.content}
                event={sound}
                description={sampleText(event.baseline_learned_at, machine?.baseline ?? null, zone)}
              />
            )}
            {machine && event.has_audio && <DiagnosisPanel key={id} machine={machine} event={id} />}
          </div>
        )}
        <div className="column">
          <Panel title={t('event.actions')}>
            <EventActions event={event} onChange={take} />
          </Panel>
          <EventDetails key={event.id} event={event} onChange={take} />
          <Episodes episodes={event.episodes} zone={zone} now={now} />
          <Panel title={t('event.timeline')}>
            <EventTimeline event={event} zone={zone} />
          </Panel>
        </div>
      </div>
    </>
  )
}
