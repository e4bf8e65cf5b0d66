/**
 * Simulated machines for the mock; one develops a fault 20 s after the start. Everything is built from
 * fixtures.json, which is written from the models of the service (`make page`).
 */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { noise } from './sound.mjs'

export const fixtures = JSON.parse(readFileSync(new URL('fixtures.json', import.meta.url), 'utf-8'))

export const ALERT = 3.1
export const ALARM = 4.4
const now = () => Date.now() / 1000
export const began = now()

/** A copy of an example with changed fields; a field that the model does not have is a mistake. */
export function example(model, changes = {}) {
  const unknown = Object.keys(changes).filter((name) => !(name in fixtures[model]))
  if (unknown.length) throw new Error(`${model} has no ${unknown.join(', ')}`)
  return { ...structuredClone(fixtures[model]), ...changes }
}

const source = (kind, message, connected = true) =>
  example('SourceState', { kind, message, sentence: null, connected, drift_ppm: 12.4, gaps: connected ? 0 : 3, reconnects: connected ? 0 : 7 })

/** Operating points by their names. */
export function points(...names) {
  return names.map((name, index) =>
    example('OperatingPointStatus', {
      number: index + 1, name, share: (2 * (names.length - index)) / (names.length * (names.length + 1)), level_dbfs: -36 + 4 * index, usual_score: 0.12 + 0.3 * index,
    }),
  )
}

const BASELINE = example('BaselineStatus', { learned_at: began - 21 * 86400, commissioned_at: began - 20 * 86400 })
const NO_BASELINE = { model: '', thresholds: null, operating_points: [], operating_point: null, baseline: null, bands: [] }

function machine(id, name, site, state, changes = {}) {
  return example('MachineStatus', {
    id, name, site, state, model: 'texture', state_since: began - 5400 - 700 * name.length,
    smoothed: state === 'normal' ? 1 : null, p_value: null, level_dbfs: -31, thresholds: thresholds(1), operating_points: points(''),
    operating_point: 1, last_sound: began, source: source('microphone', 'microphone 0, 48 kHz'), recent_scores: [],
    baseline: BASELINE, bands: bands(), stale_after: changes.sensor?.at_intervals ? null : 8, listening: changes.sensor?.at_intervals ? 'snapshots' : 'possible', ...changes,
  })
}

/** Frequencies between bands, Hz. */
export const EDGES = [30, 60, 120, 240, 490, 980, 1960, 3920, 8000]
export const usualLevel = (band) => -42 - 3 * band

/** Levels of the bands at a time, dB; a fault is loud between 1.96 and 3.92 kHz. */
export function bandLevels(id, time) {
  return EDGES.slice(1).map((_, band) => usualLevel(band) + 3 * (noise(id.length, band, Math.floor(time)) - 0.5) + (band === 6 ? 14 * fault(id, time) : 0))
}

function bands() {
  return EDGES.slice(1).map((high_hz, band) =>
    example('BandStatus', { low_hz: EDGES[band], high_hz, now_db: usualLevel(band), usual_db: usualLevel(band), alert_db: usualLevel(band) + 6, alarm_db: usualLevel(band) + 11 }),
  )
}

/** Whether it is measured now and then. */
export const atIntervals = (status) => status.sensor?.at_intervals ?? false


export function thresholds(falseAlertsPerWeek) {
  const shift = -0.28 * Math.log(falseAlertsPerWeek)
  const provisional = falseAlertsPerWeek < 0.5
  return example('Thresholds', {
    alert: ALERT + shift, alarm: ALARM + shift, alert_exit: 2.7 + shift, alarm_exit: 3.8 + shift,
    false_alerts_per_week: falseAlertsPerWeek, provisional,
    sentence: null,
    message: provisional ? 'Provisional threshold: only 26 hours learned. It improves after a day of normal running.' : `about ${falseAlertsPerWeek} false alerts per week, from 1.1 days of normal running`,
  })
}

export const machines = new Map(
  [
    machine('pump-1', 'Coolant pump 1', 'Hall A', 'normal', { operating_points: points('idle', 'half load', ''), operating_point: 2 }),
    machine('pump-2', 'Coolant pump 2', 'Hall A', 'off', { operating_points: points('', ''), operating_point: null }),
    machine('fan-roof', 'Exhaust fan, roof', 'Hall B', 'normal', {
      outlook: example('Outlook', { earliest: began + 3.4 * 86400, latest: began + 8.6 * 86400 }),
      severity: example('Severity', { grade: 'clear', ratio: 0.74, rank: 2, siblings: 3 }),
      change_points: [example('ChangePoint', { time: began - 3 * 86400 })],
      drift: example('DriftStatus', { message: 'The normal sound has changed slowly for 9 days.', sentence: null, since: began - 9 * 86400 }),
    }),
    machine('gearbox-3', 'Gearbox, conveyor 3', 'Hall B', 'learning', { ...NO_BASELINE, learning: example('LearningProgress') }),
    machine('valve-7', 'Valve 7', 'Hall B', 'lost', {
      source: source('network', 'rtsp://camera-7 does not answer; next attempt in 12 s', false), level_dbfs: null,
    }),
    machine('press-hydraulics', 'Press hydraulics, main aggregate north', 'Hall C', 'normal', {
      muted_until: began + 5400, operating_points: points('', ''), operating_point: 0, thresholds: thresholds(0.1),
      baseline: example('BaselineStatus', { learned_at: began - 3600, recordings: 1 }), question: example('CommissioningQuestion', { since: began - 1800 }),
    }),
    machine('mill-2', 'Mill 2', 'Hall C', 'normal', {
      last_sound: began - 360, source: source('folder', 'files of /srv/mill-2'), sensor: example('SensorStatus'), level_dbfs: -38.5,
      severity: example('Severity', { grade: 'slight', ratio: 0.3, above_history: null, rank: null, siblings: 0 }),
      change_points: [example('ChangePoint', { time: began - 1500 })],
    }),
    machine('saw-1', 'Band saw', 'Hall C', 'starting', NO_BASELINE),
    machine('mixer-1', 'Mixer', 'Hall C', 'starting', { ...NO_BASELINE, last_sound: null, level_dbfs: null, source: source('pushed', 'waiting for the first sound') }),
  ].map((each) => [each.id, each]),
)

/** More machines, for a plant with many of them. */
export function addMachines(count) {
  for (let index = machines.size; index < count; index++) {
    const id = `motor-${String(index).padStart(3, '0')}`
    machines.set(id, machine(id, `Motor ${index}`, `Hall ${'ABCDEFGH'[index % 8]}`, 'normal'))
  }
}

export const events = new Map()

const UNUSUAL = 'unusual sound, louder than normal from 2.2 to 3.0 kHz'
export const FINDINGS = [
  example('Finding', { hz: 2600, db: 27 }),
  example('Finding', { code: 'band', hz: null, db: 14, low_hz: 1960, high_hz: 3920, new: false }),
  example('Finding', { code: 'modulation', hz: null, db: null, per_second: 29.8, low_hz: 1960, high_hz: 3920, new: true }),
  example('Finding', { code: 'knocks', hz: null, db: 8.5, per_second: 24.8, low_hz: 3920, high_hz: 7840, new: true }),
  example('Finding', { code: 'level', hz: null, db: 6.2, new: false }),
]

export function addEvent(changes) {
  const event = example('Event', {
    id: randomBytes(16).toString('hex'), level: 'alert', began: now(), peak: null, threshold: ALERT,
    top_bands_hz: [[2240, 2980], [4600, 5200]], has_audio: true, baseline_learned_at: BASELINE.learned_at, ...changes,
  })
  event.audio_begin ??= event.has_audio ? event.began - 10 : null
  events.set(event.id, event)
  return withState(event)
}

/** With the state that follows from the other fields. */
export function withState(event) {
  const state = !event.acknowledged ? 'active' : event.ended === null ? 'acknowledged' : 'cleared'
  return { ...event, state }
}

addEvent({ machine: 'valve-7', kind: 'signal', message: 'Valve 7: no sound arrives from the source', began: began - 260, threshold: null, has_audio: false, top_bands_hz: [] })
addEvent({ machine: 'fan-roof', kind: 'drift', message: 'Exhaust fan, roof: the normal sound has changed slowly for 9 days', began: began - 3 * 3600, peak: 2.4, has_audio: false, top_bands_hz: [], acknowledged: { who: 'mara', at: began - 7000 } })
for (let index = 0; index < 14; index++)
  addEvent({
    machine: ['pump-1', 'fan-roof', 'press-hydraulics'][index % 3], level: index % 4 ? 'alert' : 'alarm',
    message: UNUSUAL, began: began - 40000 * (index + 1), ended: began - 40000 * (index + 1) + 95, findings: index % 5 === 4 ? [] : FINDINGS.slice(index % 3),
    episodes: index ? [] : [[0, 40], [55, 60], [75, 95]].map(([from, to]) => example('Episode', { began: began - 40000 + from, ended: began - 40000 + to })),
    peak: 3.4 + (index % 4 ? 0 : 1.6), acknowledged: { who: 'jonas', at: began - 40000 * (index + 1) + 300 }, label: ['', 'normal', 'fault'][index % 3],
    comments: index % 2 ? [] : [{ who: 'jonas', at: began - 40000 * (index + 1) + 360, text: 'Bearing greased, normal again.', sentence: null }],
  })

/** How far the fault has grown, 0…1. */
export function fault(id, time) {
  return id === 'pump-1' ? Math.min(1, Math.max(0, (time - began - 20) / 20)) : 0
}

export function scoreAt(id, time) {
  const seed = id.length * 7 + id.charCodeAt(0)
  const slow = 0.35 * Math.sin(time / 900 + seed) + 0.25 * Math.sin(time / 86400)
  const usual = id === 'press-hydraulics' ? -0.9 : 1.3 // one that scores lower than usual
  return usual + slow + 0.5 * (noise(seed, Math.floor(time)) - 0.3) + 4.6 * fault(id, time)
}

const isScored = ({ state }) => ['normal', 'alert', 'alarm'].includes(state)

/** With its events and recent scores as they are now. */
export function refresh(status) {
  status.ongoing_events = [...events.values()].filter((event) => event.machine === status.id && event.ended === null).length
  const last = [...events.values()].filter((event) => event.machine === status.id).sort((a, b) => b.began - a.began)[0]
  status.last_event = last ? withState(last) : null
  status.data_age = status.last_sound === null ? null : now() - status.last_sound
  if (isScored(status))
    status.recent_scores = Array.from({ length: atIntervals(status) ? 10 : 60 }, (_, index) => {
      const time = now() - 600 + index * (atIntervals(status) ? 60 : 10)
      return [time, scoreAt(status.id, time)]
    })
  return status
}

/** Simulates one second; `send(name, data)` for everything that has changed. */
export function tick(send) {
  const time = now()
  for (const status of machines.values()) {
    // No new file, nothing pushed, or no connection.
    if (['folder', 'pushed'].includes(status.source.kind) || status.state === 'lost') continue
    if (status.learning) {
      status.learning.seconds += 5
      status.level_dbfs = -34 + 4 * noise(1, time)
      if (status.learning.seconds >= status.learning.target_seconds)
        Object.assign(status, { learning: null, model: 'texture', state: 'normal', state_since: time, thresholds: thresholds(1), operating_points: points('', ''), operating_point: 1, bands: bands(), baseline: example('BaselineStatus', { learned_at: time, recordings: 1 }) })
      send('machine', refresh(status))
    }
    const scored = isScored(status)
    status.last_sound = time
    status.smoothed = scored ? scoreAt(status.id, time) : null
    status.p_value = scored ? Math.exp(-status.smoothed * 1.9) : null
    if (scored) {
      status.level_dbfs = -31 + 3 * noise(2, time)
      const state = status.smoothed >= status.thresholds.alarm ? 'alarm' : status.smoothed >= status.thresholds.alert ? 'alert' : 'normal'
      if (state !== status.state) changeState(status, state, time, send)
    }
    const { smoothed, p_value, level_dbfs } = status
    const bands_db = status.bands.length ? bandLevels(status.id, time) : []
    status.bands.forEach((band, index) => (band.now_db = bands_db[index]))
    send('reading', example('Reading', { machine: status.id, time, state: status.state, score: smoothed, smoothed, p_value, level_dbfs, bands_db }))
  }
}

function changeState(status, state, time, send) {
  Object.assign(status, { state, state_since: time, severity: state === 'normal' ? null : example('Severity') })
  if (state === 'alarm') status.change_points = [example('ChangePoint', { time: time - 8, level: 'alarm', findings: FINDINGS })]
  const active = [...events.values()].find((event) => event.machine === status.id && event.kind === 'anomaly' && event.ended === null)
  if (state === 'normal' && active) active.ended = time
  else if (active) Object.assign(active, { level: state === 'alarm' ? 'alarm' : active.level, peak: status.smoothed })
  else addEvent({ machine: status.id, level: state, peak: status.smoothed, findings: FINDINGS, severity: example('Severity'), message: `${status.name}: ${UNUSUAL}` })
  const event = active ?? [...events.values()].at(-1)
  send('event', withState(event))
  send('machine', refresh(status))
}
