import { useEvents } from '../api/useEvents'
import { useHasRole, useLive, useNow, useSpeed, useTimezone } from '../api/useLive'
import { useMachineSound } from '../api/useMachineSound'
import { useIsStale } from '../api/useFreshness'
import { BASELINE, BaselinePanel } from '../components/BaselinePanel'
import { Condition } from '../components/Condition'
import { DiagnosisPanel } from '../components/DiagnosisPanel'
import { EmptyState } from '../components/EmptyState'
import { EventTable } from '../components/EventTable'
import { Gauge } from '../components/Gauge'
import { HealthQuestion } from '../components/HealthQuestion'
import { CurrentState, LastData } from '../components/LastData'
import { LISTEN, ListenPanel } from '../components/ListenPanel'
import { MutePanel } from '../components/MutePanel'
import { OperatingDataPanel } from '../components/OperatingDataPanel'
import { OperatingPoints } from '../components/OperatingPoints'
import { Panel } from '../components/Panel'
import { Progress } from '../components/Progress'
import { RemoveMachine } from '../components/RemoveMachine'
import { SourcePanel } from '../components/SourcePanel'
import { SpectrumPanel } from '../components/SpectrumPanel'
import { ThresholdPanel } from '../components/ThresholdPanel'
import { TrendPanel } from '../components/TrendPanel'
import { SpectrogramPanel } from '../components/SpectrogramPanel'
import { t } from '../i18n'
import { lastSound } from '../lib/lastSound'
import { rarity } from '../lib/numbers'
import { link } from '../lib/route'
import { mutedUntil, needsBaseline, STATE_NAMES, stateSentence } from '../lib/states'
import { duration, moment } from '../lib/time'

/** Events on the page of a machine; the others are one link away. */
const NEWEST = 5

export function MachinePage({ id }: { id: string }) {
  const { machines } = useLive()
  const zone = useTimezone()
  const now = useNow(5)
  const speed = useSpeed()
  const isAdmin = useHasRole('admin')
  const { events, error } = useEvents({ machine: id, kind: '', open: false }, 200)
  const sound = useMachineSound(machines[id] ? id : null)
  const machine = machines[id]
  const stale = useIsStale(machine)
  if (!machine)
    return (
      <EmptyState isPage title={t('machine.missing', { id })}>
        <a href={link('overview')}>{t('common.showOverview')}</a>
      </EmptyState>
    )
  const late = lastSound(machine, now, speed)
  const until = mutedUntil(machine, now)
  const since = t('states.since', { state: STATE_NAMES[machine.state], duration: duration(now - machine.state_since) })
  return (
    <>
      <header className={`page-head state-${stale ? 'stale' : machine.state}`}>
        <div className="title">
          <h1>{machine.name || machine.id}</h1>
          <p className="soft">{[machine.site, machine.group, machine.id].filter(Boolean).join(' · ')}</p>
          {machine.listening === 'possible' && (
            <button type="button" className="small" onClick={() => document.getElementById(LISTEN)?.focus()}>
              {t('listen.title')}
            </button>
          )}{' '}
          {isAdmin && <a href={link('edit', id)}>{t('setup.edit.link')}</a>}
        </div>
        <div className="standing">
          <CurrentState machine={machine} large />
          <p>
            {stale ? t('listen.notCurrent', { state: STATE_NAMES[machine.state] }) : t('machine.standing', { sentence: stateSentence(machine), since })}{' '}
            {late ? <strong>{t('machine.sentence', { text: late })}</strong> : <LastData machine={machine} />}
            {until !== null && <strong> {t('machine.sentence', { text: t('states.mutedUntil', { time: moment(until, now, zone) }) })}</strong>}
          </p>
        </div>
        {machine.learning ? (
          <Progress seconds={machine.learning.seconds} target={machine.learning.target_seconds} />
        ) : needsBaseline(machine) ? (
          isAdmin && (
            <div className="buttons">
              <button type="button" onClick={() => document.getElementById(BASELINE)?.focus()}>
                {t('machine.learnBaseline')}
              </button>
            </div>
          )
        ) : stale ? null : (
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
        <Panel
          title={t('machine.events')}
          className="wide"
          aside={events?.length ? <a href={link('events', '', { machine: id })}>{t('machine.allEvents')}</a> : null}
        >
          {events?.length ? (
            <EventTable events={events.slice(0, NEWEST)} withMachine={false} />
          ) : (
            <p className="plain">{error || (events ? t('machine.noEvents') : t('common.loading'))}</p>
          )}
        </Panel>
        {/* Of snapshots a minute is nearly empty, and nothing can be heard. */}
        {machine.listening !== 'snapshots' && <SpectrogramPanel machine={machine} sound={sound} />}
        <SpectrumPanel machine={machine} sound={sound} />
        {machine.listening !== 'snapshots' && <ListenPanel machine={machine} />}
        <DiagnosisPanel key={id} machine={machine} />
        <OperatingPoints machine={machine} />
        <ThresholdPanel machine={machine} />
        <MutePanel machine={machine} />
        <BaselinePanel machine={machine} />
        <OperatingDataPanel machine={machine} />
        <SourcePanel machine={machine} now={now} />
        <RemoveMachine machine={machine} />
      </div>
    </>
  )
}
