/** Made-up machines that live; one develops a fault 20 s after the start. */
import { randomBytes } from 'node:crypto'
import { noise } from './sound.mjs'

export const ALERT = 3.1
export const ALARM = 4.4
const now = () => Date.now() / 1000
export const began = now()

const source = (words, connected = true) => ({ connected, words, drift_ppm: 12.4, gaps: connected ? 0 : 3, reconnects: connected ? 0 : 7 })

/** Usual ways of running, by their names. */
export function points(...names) {
  return names.map((name, index) => ({
    number: index + 1, name, share: 2 * (names.length - index) / (names.length * (names.length + 1)), level_dbfs: -36 + 4 * index, usual: 0.12 + 0.3 * index,
  }))
}

const NOTHING_LEARNT = { model: '', thresholds: null, operating_points: [], operating_point: null }

function machine(id, name, site, state, more = {}) {
  return {
    id, name, site, kind: 'microphone', model: 'own baseline', state,
    state_since: began - 5400 - 700 * name.length, muted_until: null,
    score: state === 'normal' ? 1 : null, p_value: null, level_dbfs: -31,
    thresholds: limits(1), operating_points: points(''), operating_point: 1, added: false, drift: null,
    last_sound: began, source: source('microphone 0, 48 kHz'), learning: null, open_events: 0, last_event: null, spark: [],
    ...more,
  }
}

export function limits(perWeek) {
  const shift = -0.28 * Math.log(perWeek)
  const extrapolated = perWeek < 0.5
  return {
    alert: ALERT + shift, alarm: ALARM + shift, alert_exit: 2.7 + shift, alarm_exit: 3.8 + shift, per_week: perWeek, extrapolated,
    words: extrapolated
      ? '26 hours of normal sound cannot show so rare a score, so expect the limit to be off'
      : 'at most about 1 false alert a week, as 26 hours of normal sound show',
  }
}

export const machines = new Map(
  [
    machine('pump-1', 'Coolant pump 1', 'Hall A', 'normal', { operating_points: points('idle', 'half load', ''), operating_point: 2 }),
    machine('pump-2', 'Coolant pump 2', 'Hall A', 'off', { operating_points: points('', ''), operating_point: null }),
    machine('fan-roof', 'Exhaust fan, roof', 'Hall B', 'normal', {
      drift: { words: 'The normal sound has moved slowly for 9 days; most likely the filter.', since: began - 9 * 86400 },
    }),
    machine('gearbox-3', 'Gearbox, conveyor 3', 'Hall B', 'learning', {
      ...NOTHING_LEARNT, learning: { seconds: 420, wanted: 900 },
    }),
    machine('valve-7', 'Valve 7', 'Hall B', 'lost', {
      kind: 'network', source: source('rtsp://camera-7 does not answer; next try in 12 s', false), level_dbfs: null,
    }),
    machine('press-hydraulics', 'Press hydraulics, main aggregate north', 'Hall C', 'normal', { muted_until: began + 5400, operating_points: points('', ''), operating_point: 0 }),
    machine('mill-2', 'Mill 2', 'Hall C', 'normal', { kind: 'folder', last_sound: began - 360, source: source('files of /srv/mill-2') }),
    machine('saw-1', 'Band saw', 'Hall C', 'starting', NOTHING_LEARNT),
    machine('mixer-1', 'Mixer', 'Hall C', 'starting', { ...NOTHING_LEARNT, kind: 'pushed', last_sound: null, level_dbfs: null, source: source('waits for sound that is sent') }),
  ].map((made) => [made.id, made]),
)

export const events = new Map()

export function addEvent(part) {
  const event = {
    id: randomBytes(16).toString('hex'), kind: 'anomaly', level: 'alert', began: now(), ended: null, peak: null,
    threshold: ALERT, label: '', acknowledged: null, comments: [], has_audio: true, audio_begin: null,
    top_bands_hz: [[2240, 2980], [4600, 5200]], ...part,
  }
  event.audio_begin ??= event.has_audio ? event.began - 10 : null
  events.set(event.id, event)
  return shown(event)
}

export function shown(event) {
  const state = !event.acknowledged ? 'active' : event.ended === null ? 'acknowledged' : 'cleared'
  return { ...event, state }
}

addEvent({ machine: 'valve-7', kind: 'signal', words: 'Valve 7: no sound has arrived for 4 minutes.', began: began - 260, peak: null, threshold: null, has_audio: false, top_bands_hz: [] })
addEvent({ machine: 'fan-roof', kind: 'drift', words: 'The normal sound has moved slowly for 9 days.', began: began - 3 * 3600, peak: 2.4, has_audio: false, top_bands_hz: [], acknowledged: { who: 'mara', at: began - 7000 } })
for (let index = 0; index < 14; index++)
  addEvent({
    machine: ['pump-1', 'fan-roof', 'press-hydraulics'][index % 3], level: index % 4 ? 'alert' : 'alarm',
    words: 'Unlike its normal sound, most of all from 2.2 to 3.0 kHz.', began: began - 40000 * (index + 1), ended: began - 40000 * (index + 1) + 95,
    peak: 3.4 + (index % 4 ? 0 : 1.6), acknowledged: { who: 'jonas', at: began - 40000 * (index + 1) + 300 }, label: ['', 'normal', 'fault'][index % 3],
    comments: index % 2 ? [] : [{ who: 'jonas', at: began - 40000 * (index + 1) + 360, text: 'Bearing greased, quiet again.' }],
  })

/** How far the fault has grown, 0…1. */
export function fault(id, time) {
  return id === 'pump-1' ? Math.min(1, Math.max(0, (time - began - 20) / 20)) : 0
}

export function scoreAt(id, time) {
  const seed = id.length * 7 + id.charCodeAt(0)
  const slow = 0.35 * Math.sin(time / 900 + seed) + 0.25 * Math.sin(time / 86400)
  return 1.3 + slow + 0.5 * (noise(seed, Math.floor(time)) - 0.3) + 4.6 * fault(id, time)
}

export function refresh(made) {
  made.open_events = [...events.values()].filter((event) => event.machine === made.id && event.ended === null).length
  const last = [...events.values()].filter((event) => event.machine === made.id).sort((a, b) => b.began - a.began)[0]
  made.last_event = last ? shown(last) : null
  if (['normal', 'alert', 'alarm'].includes(made.state))
    made.spark = Array.from({ length: 60 }, (_, index) => {
      const time = now() - 600 + index * 10
      return [time, scoreAt(made.id, time)]
    })
  return made
}

/** One second of life; `tell(name, content)` for everything that changed. */
export function tick(tell) {
  const time = now()
  for (const made of machines.values()) {
    // No file and nothing sent meanwhile.
    if (['folder', 'pushed'].includes(made.kind)) continue
    if (made.learning) {
      made.learning.seconds += 5
      made.level_dbfs = -34 + 4 * noise(1, time)
      if (made.learning.seconds >= made.learning.wanted) {
        Object.assign(made, { learning: null, model: 'own baseline', state: 'normal', state_since: time, thresholds: limits(1), operating_points: points('', ''), operating_point: 1 })
        tell('machine', { ...refresh(made), spark: undefined })
      } else tell('machine', { ...made, spark: undefined })
    }
    const judged = ['normal', 'alert', 'alarm'].includes(made.state)
    if (made.state !== 'lost') made.last_sound = time
    made.score = judged ? scoreAt(made.id, time) : null
    made.p_value = judged ? Math.exp(-made.score * 1.9) : null
    if (judged) {
      made.level_dbfs = -31 + 3 * noise(2, time)
      const state = made.score >= made.thresholds.alarm ? 'alarm' : made.score >= made.thresholds.alert ? 'alert' : 'normal'
      if (state !== made.state) changeState(made, state, time, tell)
    }
    tell('reading', { machine: made.id, time, score: made.score, state: made.state })
  }
}

function changeState(made, state, time, tell) {
  Object.assign(made, { state, state_since: time })
  const running = [...events.values()].find((event) => event.machine === made.id && event.kind === 'anomaly' && event.ended === null)
  if (state === 'normal' && running) running.ended = time
  else if (running) Object.assign(running, { level: state === 'alarm' ? 'alarm' : running.level, peak: made.score })
  else addEvent({ machine: made.id, level: state, peak: made.score, words: 'Unlike its normal sound, most of all from 2.2 to 3.0 kHz.' })
  const event = running ?? [...events.values()].at(-1)
  tell('machine', { ...refresh(made), spark: undefined })
  tell('event', shown(event))
}
