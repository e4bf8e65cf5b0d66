/**
 * A mock of the service, for working on the page without it:
 *   node mock/server.mjs [--port 8000] [--users] [--role viewer] [--problem 'the disk is full'] [--machines 200]
 * --users: sign in as admin, password admin; --role: role of the user, by default admin;
 * --problem: something that is wrong with the service; --machines: how many there are, at least.
 * It also serves the built page, with the Content-Security-Policy of the service.
 */
import { createServer } from 'node:http'
import { readFile } from 'node:fs/promises'
import { extname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { addMachines, atIntervals, bandLevels, EDGES, events, example, fault, fixtures, machines, refresh, scoreAt, thresholds, tick, withState } from './machines.mjs'
import { bytes, column, HIGH_DB, HZ, LOW_DB, noise, STEP, wav } from './sound.mjs'

const option = (name, other) => (process.argv.includes(name) ? process.argv[process.argv.indexOf(name) + 1] : other)
const port = Number(option('--port', 8000))
const role = option('--role', 'admin')
const problem = option('--problem', '')
const needsSignIn = process.argv.includes('--users')
const folder = fileURLToPath(new URL('../../src/ssdpt/server/static/', import.meta.url))
const CSP = "default-src 'self'; style-src 'self'; img-src 'self' blob: data:; media-src 'self' blob:"
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' }

const now = () => Date.now() / 1000
const clients = new Set()
const send = (name, data) => clients.forEach((client) => client.write(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`))
addMachines(Number(option('--machines', 0)))
setInterval(() => tick(send), 1000)

// A grey square, in place of the picture of an event.
const PICTURE = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNoaGj4DwAFhAKAjM1mJgAAAABJRU5ErkJggg==', 'base64')
const notes = [example('Note', { id: 1, machine: 'pump-1', at: now() - 240, text: 'Seal replaced' })]

const users = new Map([['admin', 'admin'], ['jonas', 'operator'], ['wall', 'viewer']])
const card = `# Coolant pumps

Detects **bearing wear** and *cavitation*. See \`ssdpt fit\`.

## Results

| section | AUC | pAUC |
| --- | --- | --- |
| 00 | 0.93 | 0.81 |
| 01 | 0.88 | 0.74 |

- learned from 990 normal clips
- <script>alert(1)</script> does nothing

\`\`\`
ssdpt fit --machine pump
\`\`\`
`

class HttpError extends Error {
  constructor(status, message) {
    super(message)
    this.status = status
  }
}

function lookUp(map, id, what) {
  const value = map.get(id)
  if (!value) throw new HttpError(404, `there is no such ${what}`)
  return value
}

function spectrogram(seed, begin, count, faultAt) {
  const first = Math.round(begin / STEP)
  const columns = Array.from({ length: count }, (_, index) => bytes(column(seed, first + index, faultAt((first + index) * STEP))))
  return example('Spectrogram', { hz: HZ, begin: first * STEP, seconds_per_column: STEP, columns, low_db: LOW_DB, high_db: HIGH_DB })
}

const seedOf = (id) => id.length * 7 + id.charCodeAt(0)

/** Times of points, and their length; a machine that is measured now and then has few of them. */
function timePoints(status, query) {
  const begin = Number(query.get('begin') ?? now() - 3600)
  const end = Math.min(Number(query.get('end') ?? now()), now())
  const points = Number(query.get('points') ?? 600)
  const step = Math.max(1, Math.ceil((end - begin) / points))
  const count = status.model ? Math.max(0, Math.floor((end - begin) / step)) : 0
  const time = Array.from({ length: count }, (_, index) => (Math.floor(begin / step) + index) * step)
  return { step, time: atIntervals(status) ? time.filter((at) => at % (17 * step) === 0 && at < status.last_sound) : time }
}

function trend(status, query) {
  const { step, time } = timePoints(status, query)
  const spread = atIntervals(status) ? 0 : 0.15 + Math.min(0.7, Math.log10(step + 1) / 4)
  const mean = time.map((at) => scoreAt(status.id, at))
  const secondsIn = (wanted) => time.map((at) => (scoreState(status, at) === wanted ? step : 0))
  return example('TrendReply', {
    seconds_per_point: step, time, mean, low: mean.map((value) => value - spread), high: mean.map((value) => value + spread),
    state: time.map((at) => scoreState(status, at)), alert_seconds: secondsIn('alert'), alarm_seconds: secondsIn('alarm'),
  })
}

function scoreState(status, time) {
  const value = scoreAt(status.id, time)
  return value >= status.thresholds.alarm ? 'alarm' : value >= status.thresholds.alert ? 'alert' : 'normal'
}

function bandTrend(status, query) {
  const { step, time } = timePoints(status, query)
  return example('BandTrendReply', { seconds_per_point: step, edges_hz: status.bands.length ? EDGES : [], time, level_dbfs: time.map((at) => -40 + 2 * scoreAt(status.id, at)), levels: time.map((at) => bandLevels(status.id, at)) })
}

/** Noise with a shaft; with a fault also the outer race and its harmonics in the envelope. */
function analysis(seed, severity, maxHz) {
  const lines = example('LineSet', {})
  const hzOf = (kind) => lines.lines.find((line) => line.kind === kind).hz
  const levels = (count, spacing, base, tones) =>
    Array.from({ length: count }, (_, index) => {
      const peaks = tones.map(([hz, db]) => db - ((index * spacing - hz) / spacing) ** 2)
      return Math.round(10 * Math.max(base + 4 * noise(seed, index), ...peaks)) / 10
    })
  const highest = Math.min(maxHz, 8000)
  const spacing = highest > 1000 ? highest / 2000 : 0.5
  const shaft = [1, 2, 3].map((multiple) => [multiple * hzOf('shaft'), -50 - 5 * multiple])
  const race = [1, 2, 3].map((multiple) => [multiple * hzOf('bpfo'), -30 + 20 * severity - 5 * multiple])
  const count = Math.floor(highest / spacing)
  const part = { spacing_hz: 0.5, levels: levels(1000, 0.5, -45, race), normal: levels(1000, 0.5, -46, []) }
  return example('SoundAnalysis', {
    spectrum: { spacing_hz: spacing, levels: levels(count, spacing, -80, shaft), normal: levels(count, spacing, -82, shaft) },
    envelope: { ...example('SoundAnalysis', {}).envelope, ...part },
    lines,
  })
}

function machineSpectrum(status) {
  const mean = status.model ? column(seedOf(status.id), 5, 0) : []
  const current = status.last_sound === null ? [] : column(seedOf(status.id), Math.floor(now() * 2), fault(status.id, now()))
  return example('Spectrum', { hz: HZ, now: current, mean, low: mean.map((db) => db - 7), high: mean.map((db) => db + 9) })
}

function machineSpectrogram(status, seconds) {
  const isSilent = ['lost', 'off'].includes(status.state) || !(status.last_sound > now() - seconds)
  return spectrogram(seedOf(status.id), now() - seconds, isSilent ? 0 : Math.round(seconds / STEP), (time) => fault(status.id, time))
}

const recordings = []

function machineAnswer(method, id, part, query, body, recording) {
  const number = Number(recording)
  const status = lookUp(machines, id, 'machine')
  const change = (changes) => {
    Object.assign(status, changes)
    send('machine', refresh(status))
    return status
  }
  switch (`${method} ${part}`) {
    case 'GET ':
      return refresh(status)
    case 'GET trend':
      return trend(status, query)
    case 'GET bands':
      return bandTrend(status, query)
    case 'GET analysis':
      return status.last_sound === null ? null : analysis(seedOf(status.id), fault(status.id, now()), Number(query.get('max_hz') ?? 1000))
    case 'GET lines':
      return example('LineSet', {})
    case 'GET spectrum':
      return machineSpectrum(status)
    case 'GET spectrogram':
      return machineSpectrogram(status, Number(query.get('seconds') ?? 60))
    case 'GET sound':
      return example('MachineSound', { spectrum: machineSpectrum(status), spectrogram: machineSpectrogram(status, Number(query.get('seconds') ?? 5)) })
    case 'GET recordings':
      return recordings.filter((each) => each.machine === id)
    case 'POST recordings':
      recordings.unshift(example('KeptRecording', { id: recordings.length.toString(16).padStart(32, '0'), machine: id, begin: now() - 60 * body.minutes, end: now(), at: now(), who: 'local', note: body.note, bytes: 480_000 * body.minutes }))
      return recordings[0]
    case 'DELETE recordings':
      return void recordings.splice(recordings.findIndex((each) => each.id === recording), 1)
    case 'POST mute':
      return change({ muted_until: now() + body.minutes * 60 })
    case 'DELETE mute':
      return change({ muted_until: null })
    case 'DELETE ':
      if (!status.added_on_page) throw new HttpError(409, `machine ${id} is in the configuration file; remove it there`)
      machines.delete(id)
      send('removed', { machine: id })
      return undefined
    case 'PUT operating-points':
      return change({ operating_points: status.operating_points.map((point) => (point.number === number ? { ...point, name: body.name } : point)) })
    case 'GET notes':
      return notes.filter(({ machine }) => machine === id)
    case 'POST notes':
      notes.push(example('Note', { ...body, id: notes.length + 1, machine: id, who: 'local', written_at: now() }))
      return notes.at(-1)
    case 'PUT notes':
      return Object.assign(notes.find((note) => note.id === number), body)
    case 'DELETE notes':
      notes.splice(notes.findIndex((note) => note.id === number), 1)
      return undefined
    case 'POST commission':
      return change({ question: null, baseline: { ...status.baseline, commissioned_at: body.healthy ? now() : null } })
    case 'POST accept-drift':
      return change({ drift: null })
    case 'POST learn':
      return change({ state: 'learning', state_since: now(), learning: example('LearningProgress', { seconds: 0, target_seconds: body.minutes * 60 }) })
    case 'DELETE learn':
      return change({ state: status.thresholds ? 'normal' : 'starting', state_since: now(), learning: null })
    case 'GET thresholds':
      return thresholds(Number(query.get('false_alerts_per_week')))
    case 'GET settings':
      return example('MachineDefinition', { settings: settingsOf(status), defined_in: status.added_on_page ? 'page' : 'file' })
    case 'POST settings':
      return example('ChangeEffect', { baseline: body.source.kind === status.source.kind ? 'kept' : 'ask' })
    case 'PUT ':
      return change({ name: body.name, site: body.site, group: body.group ?? '', source: { ...status.source, kind: body.source.kind } })
    case 'PUT thresholds':
      return change({ thresholds: thresholds(body.false_alerts_per_week) }).thresholds
  }
  throw new HttpError(404, 'there is nothing at this address')
}

function eventAnswer(method, id, part, body, query) {
  const event = lookUp(events, id, 'event')
  if (part === 'spectrogram') {
    const shown = spectrogram(3, event.audio_begin, 400, (time) => Math.min(1, Math.max(0, (time - event.began) / 4)))
    const anomaly = (x, hz) => Math.min(1, Math.max(0, (x - 150) / 60)) * Math.exp(-(((hz - 2600) / 380) ** 2))
    return example('EventSpectrogram', { ...shown, anomaly_map: shown.columns.map((_, x) => HZ.map((hz) => Math.round(255 * anomaly(x, hz)))) })
  }
  if (part === 'lines') return example('LineSet', {})
  if (part === 'analysis') return analysis(3, 1, Number(query.get('max_hz') ?? 1000))
  const who = 'local'
  if (part === 'acknowledge') event.acknowledged ??= { who, at: now() }
  if (part === 'label') event.label = body.label
  if (part === 'label' && body.label) event.acknowledged ??= { who, at: now() }
  if (part === 'details') Object.assign(event, body)
  if (part === 'recognition') Object.assign(event, body.right ? { fault: event.looks_like.fault } : { looks_like: null })
  const text = part === 'comment' ? body.text : part === 'acknowledge' ? body.comment : ''
  if (text) event.comments.push({ who, at: now(), text, sentence: null })
  if (method !== 'GET') {
    send('event', withState(event))
    send('machine', refresh(machines.get(event.machine)))
  }
  return withState(event)
}

function addMachine({ id, name, site, source }) {
  if (machines.has(id)) throw new HttpError(409, `there is a machine called ${id} already`)
  const status = example('MachineStatus', {
    ...structuredClone(machines.get('saw-1')),
    id, name, site, added_on_page: true, source: example('SourceState', { kind: source.kind, message: `${source.kind}, 16 kHz`, sentence: null }),
  })
  machines.set(id, status)
  send('machine', status)
  return status
}

const faultOf = (event) => event.fault || event.looks_like?.fault || ''

/** Events of the same machine and fault together. */
function grouped(wanted) {
  const groups = new Map()
  for (const event of wanted) {
    const key = [event.machine, event.kind, faultOf(event)].join()
    groups.set(key, [...(groups.get(key) ?? []), event])
  }
  return [...groups.values()].map((alike) =>
    example('EventGroup', {
      machine: alike[0].machine, kind: alike[0].kind, fault: faultOf(alike[0]), events: alike.length,
      confirmed: alike.filter(({ fault }) => fault).length, unacknowledged: alike.filter(({ state }) => state === 'active').length,
      first_began: Math.min(...alike.map(({ began }) => began)), last_began: Math.max(...alike.map(({ began }) => began)),
      level: alike.some(({ level }) => level === 'alarm') ? 'alarm' : 'alert',
    }),
  )
}

function settingsOf({ id, name, site, group, source }) {
  const known = fixtures.MachineDefinition.settings
  return { ...known, id, name, site, group, source: { kind: source.kind } }
}

function trial() {
  return example('TrialStatus', { level_dbfs: -31 + 6 * Math.sin(now()), spectrogram: spectrogram(5, now() - 5, Math.round(5 / STEP), () => 0) })
}

const isWanted = (event, query) =>
  (!query.get('level') || event.level === query.get('level')) &&
  (!query.get('fault') || faultOf(event) === query.get('fault')) &&
  (!query.get('text') || JSON.stringify(event).toLowerCase().includes(query.get('text').toLowerCase())) &&
  (!query.get('machine') || event.machine === query.get('machine')) &&
  (!query.get('kind') || event.kind === query.get('kind')) &&
  (query.get('open') !== 'true' || event.state !== 'cleared') &&
  (!query.get('before') || event.began < Number(query.get('before')))

function answer(method, path, query, body) {
  const [collection, id = '', part = '', number = ''] = path
  switch (collection) {
    case 'status':
      return example('StatusReply', {
        name: 'Northside works', demo: true, now: now(), notes: ['Event recordings are kept for 365 days.'], problems: problem ? [problem] : [],
        machines: [...machines.values()].map(refresh), user: example('UserInfo', { role }),
      })
    case 'session':
      return example('SessionInfo', { csrf: 'mock' })
    case 'machines':
      if (id) return machineAnswer(method, id, part, query, body, number)
      return method === 'POST' ? addMachine(body) : [...machines.values()].map(refresh)
    case 'events': {
      const wanted = [...events.values()].map(withState).filter((event) => isWanted(event, query))
      if (id === 'groups') return grouped(wanted)
      if (id === 'suggestions') return example('EventSuggestions')
      if (id) return eventAnswer(method, id, part, body, query)
      return wanted.sort((a, b) => b.began - a.began).slice(0, Number(query.get('limit') ?? 100))
    }
    case 'report':
      return example('WeeklyReport', { week: query.get('week') })
    case 'bearings':
      return [example('Bearing', {})]
    case 'models':
      return [example('ModelInfo', { machine: 'pump-1', system: 'ensemble', card_markdown: card, sections: ['00', '01'], recordings: 990 })]
    case 'microphones':
      return example('Microphones')
    case 'trials':
      return method === 'DELETE' ? undefined : trial()
    case 'backup':
      return example('BackupSize')
    case 'outputs':
      if (part === 'test') return example('OutputTest', id === '1' ? {} : { ok: false, message: 'no answer within 15 s', sentence: { code: 'outputs.noAnswer', values: { seconds: 15 } } })
      return [
        example('OutputInfo', { last_success: now() - 60 }),
        example('OutputInfo', {
          number: 2, kind: 'webhook', name: 'webhook https://tickets.example', healthy: false, message: 'cannot be reached (connection refused)', sentence: { code: 'outputs.connectionRefused', values: {} },
          last_success: null, queued: 2, sent: 0,
        }),
      ]
    case 'users':
      if (part === 'role') users.set(id, body.role)
      if (part) return part === 'role' ? { name: id, role: body.role } : undefined
      if (method === 'POST') users.set(body.name, body.role)
      if (method === 'DELETE') return void users.delete(id)
      return method === 'POST' ? { name: body.name, role: body.role } : [...users].map(([name, role]) => example('UserInfo', { name, role }))
  }
  throw new HttpError(404, 'there is nothing at this address')
}

async function file(pathname, response) {
  const path = normalize(join(folder, pathname === '/' ? 'index.html' : pathname))
  const found = path.startsWith(folder) && extname(path) ? path : join(folder, 'index.html')
  const content = await readFile(found) // before the header: there may be no such file
  response.writeHead(200, { 'Content-Type': TYPES[extname(found)] ?? 'application/octet-stream' })
  response.end(content)
}

function sound(request, response, content) {
  const range = /bytes=(\d+)-(\d*)/.exec(request.headers.range ?? '')
  const [begin, end] = range ? [Number(range[1]), range[2] ? Number(range[2]) : content.length - 1] : [0, content.length - 1]
  response.writeHead(range ? 206 : 200, {
    'Content-Type': 'audio/wav', 'Accept-Ranges': 'bytes', 'Content-Length': end - begin + 1,
    ...(range && { 'Content-Range': `bytes ${begin}-${end}/${content.length}` }),
  })
  response.end(content.subarray(begin, end + 1))
}

const server = createServer(async (request, response) => {
  const address = new URL(request.url, 'http://localhost')
  response.setHeader('Content-Security-Policy', CSP)
  try {
    if (!address.pathname.startsWith('/v1/')) return await file(address.pathname, response)
    const path = address.pathname.slice(4).split('/').map(decodeURIComponent)
    let text = ''
    for await (const part of request) text += part
    const body = text ? JSON.parse(text) : {}
    const isSignedIn = !needsSignIn || /mock-session/.test(request.headers.cookie ?? '')
    if (path[0] === 'session' && request.method === 'POST') {
      if (body.password !== 'admin') throw new HttpError(401, 'the name or the password is wrong')
      response.setHeader('Set-Cookie', 'mock-session=1; HttpOnly; SameSite=Strict; Path=/')
    } else if (!isSignedIn) throw new HttpError(401, 'please sign in')
    if (path[0] === 'session' && request.method === 'DELETE') response.setHeader('Set-Cookie', 'mock-session=; Max-Age=0; Path=/')
    if (path[0] === 'live') {
      response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' })
      response.write(': connected\n\n')
      clients.add(response)
      request.on('close', () => clients.delete(response))
    } else if (path[2] === 'picture.png') {
      response.writeHead(200, { 'Content-Type': 'image/png' })
      response.end(PICTURE)
    } else if (path[2] === 'audio' || path[4] === 'audio') sound(request, response, wav(25.6, 3, 10))
    else if (path[2] === 'normal.flac') sound(request, response, wav(10, 3, 99))
    else {
      const content = JSON.stringify(answer(request.method, path, address.searchParams, body))
      const isNew = request.method === 'POST' && (path.length === 1 || path[2] === 'notes' || path[2] === 'recordings') && path[0] !== 'session'
      response.writeHead(content ? (isNew ? 201 : 200) : 204, { 'Content-Type': 'application/json' })
      response.end(content)
    }
  } catch (error) {
    response.writeHead(error.status ?? 500, { 'Content-Type': 'application/json' })
    response.end(JSON.stringify({ error: error.message, sentence: null }))
  }
})
server.listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))
