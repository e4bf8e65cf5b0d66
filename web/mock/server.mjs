/**
 * A service that plays some machines, for working on the page without a plant:
 *   node mock/server.mjs [--port 8000] [--users] [--role viewer] [--trouble 'the store is away']
 * --users: sign in as admin, password admin; --role: what the reader may do, all unless told;
 * --trouble: something that is wrong with the service.
 * It serves the built page too, with the same Content-Security-Policy as the real one.
 */
import { createServer } from 'node:http'
import { readFile } from 'node:fs/promises'
import { extname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { events, fault, limits, machines, refresh, scoreAt, shown, tick } from './plant.mjs'
import { bytes, column, HIGH_DB, HZ, LOW_DB, STEP, wav } from './sound.mjs'

const option = (name, other) => (process.argv.includes(name) ? process.argv[process.argv.indexOf(name) + 1] : other)
const port = Number(option('--port', 8000))
const role = option('--role', 'admin')
const trouble = option('--trouble', '')
const wantsUsers = process.argv.includes('--users')
const folder = fileURLToPath(new URL('../../src/ssdpt/server/static/', import.meta.url))
const CSP = "default-src 'self'; style-src 'self'; img-src 'self' blob: data:; media-src 'self' blob:"
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' }

const now = () => Date.now() / 1000
const listeners = new Set()
const tell = (name, content) => listeners.forEach((answer) => answer.write(`event: ${name}\ndata: ${JSON.stringify(content)}\n\n`))
setInterval(() => tick(tell), 1000)

const users = new Map([['admin', 'admin'], ['jonas', 'operator'], ['wall', 'viewer']])
const card = `# Coolant pumps

Hears **bearing wear** and *cavitation*. See \`ssdpt fit\`.

## Results

| section | AUC | pAUC |
| --- | --- | --- |
| 00 | 0.93 | 0.81 |
| 01 | 0.88 | 0.74 |

- learnt from 990 normal clips
- <script>alert(1)</script> stays text

\`\`\`
ssdpt fit --machine pump
\`\`\`
`

class Problem extends Error {
  constructor(status, words) {
    super(words)
    this.status = status
  }
}

function found(map, id, what) {
  const made = map.get(id)
  if (!made) throw new Problem(404, `No ${what} is called '${id}'.`)
  return made
}

function spectrogram(seed, begin, count, faultAt) {
  const first = Math.round(begin / STEP)
  const columns = Array.from({ length: count }, (_, index) => bytes(column(seed, first + index, faultAt((first + index) * STEP))))
  return { hz: HZ, begin: first * STEP, seconds_per_column: STEP, columns, low_db: LOW_DB, high_db: HIGH_DB }
}

const seedOf = (id) => id.length * 7 + id.charCodeAt(0)

function trend(id, query) {
  const begin = Number(query.get('begin'))
  const end = Math.min(Number(query.get('end')), now())
  const points = Number(query.get('points') ?? 600)
  const step = Math.max(1, Math.ceil((end - begin) / points))
  const time = Array.from({ length: !machines.get(id).model ? 0 : Math.max(0, Math.floor((end - begin) / step)) }, (_, index) => Math.floor(begin) + index * step)
  const spread = 0.15 + Math.min(0.7, Math.log10(step + 1) / 4)
  const mean = time.map((at) => scoreAt(id, at))
  return { seconds_per_point: step, time, mean, low: mean.map((value) => value - spread), high: mean.map((value) => value + spread), state: time.map(() => 'normal') }
}

function machineAnswer(method, id, part, query, body, number) {
  const made = found(machines, id, 'machine')
  const changed = (more) => {
    Object.assign(made, more)
    tell('machine', { ...refresh(made), spark: undefined })
    return refresh(made)
  }
  const what = `${method} ${part}`
  if (what === 'GET ') return refresh(made)
  if (what === 'GET scores') return trend(id, query)
  if (what === 'GET waterfall') {
    const seconds = Number(query.get('seconds') ?? 60)
    const heard = ['lost', 'off'].includes(made.state) || !(made.last_sound > now() - seconds) ? 0 : Math.round(seconds / STEP)
    return spectrogram(seedOf(id), now() - seconds, heard, (time) => fault(id, time))
  }
  if (what === 'GET spectrum') {
    const mean = made.model ? column(seedOf(id), 5, 0) : []
    return { hz: HZ, now: made.last_sound === null ? [] : column(seedOf(id), Math.floor(now() * 2), fault(id, now())), mean, low: mean.map((db) => db - 7), high: mean.map((db) => db + 9) }
  }
  if (what === 'POST mute') return changed({ muted_until: now() + body.minutes * 60 })
  if (what === 'DELETE mute') return changed({ muted_until: null })
  if (what === 'DELETE ') {
    if (!made.added) throw new Problem(409, `Machine ${id} is named in the plant file; take it out there.`)
    machines.delete(id)
    tell('removed', { machine: id })
    return undefined
  }
  if (what === 'PUT operating-points') {
    const of = (point) => (point.number === number ? { ...point, name: body.name } : point)
    return changed({ operating_points: made.operating_points.map(of) })
  }
  if (what === 'POST rebaseline') return changed({ drift: null })
  if (what === 'POST learn') return changed({ state: 'learning', state_since: now(), learning: { seconds: 0, wanted: body.minutes * 60 } })
  if (what === 'DELETE learn') return changed({ state: made.thresholds ? 'normal' : 'starting', state_since: now(), learning: null })
  if (what === 'GET thresholds') return limits(Number(query.get('per_week')))
  if (what === 'PUT thresholds') return changed({ thresholds: limits(body.per_week) })
  throw new Problem(404, 'There is no such address.')
}

function eventAnswer(method, id, part, body) {
  const event = found(events, id, 'event')
  if (part === 'spectrogram') {
    const made = spectrogram(3, event.audio_begin, 400, (time) => Math.min(1, Math.max(0, (time - event.began) / 4)))
    made.map = made.columns.map((_, x) => HZ.map((hz) => Math.round(255 * Math.min(1, Math.max(0, (x - 150) / 60)) * Math.exp(-(((hz - 2600) / 380) ** 2)))))
    return made
  }
  const who = 'local'
  if (part === 'acknowledge') event.acknowledged ??= { who, at: now() }
  if (part === 'label') event.label = body.label
  const text = part === 'comment' ? body.text : part === 'acknowledge' ? body.comment : ''
  if (text) event.comments.push({ who, at: now(), text })
  if (method === 'POST') tell('event', shown(event))
  return shown(event)
}

function addMachine(body) {
  if (machines.has(body.id)) throw new Problem(409, `A machine is already called '${body.id}'.`)
  const made = { ...structuredClone(machines.get('gearbox-3')), ...body, state: 'starting', learning: null, added: true, kind: body.source.kind, source: { connected: true, words: `${body.source.kind}, 16 kHz`, drift_ppm: 0, gaps: 0, reconnects: 0 } }
  machines.set(body.id, made)
  tell('machine', made)
  return made
}

function answer(method, path, query, body) {
  const [room, id = '', part = '', number = ''] = path
  if (room === 'plant')
    return { name: 'Northside works', zone: 'Europe/Berlin', version: '0.9.0', demo: true, keeps_audio: true, notes: ['Sound of events is kept for 365 days.'], troubles: trouble ? [trouble] : [], machines: [...machines.values()].map(refresh), you: { name: 'local', role }, speed: 1, now: now() }
  if (room === 'session') return { name: 'admin', role: 'admin', csrf: 'mock' }
  if (room === 'machines' && !id) return method === 'POST' ? addMachine(body) : [...machines.values()].map(refresh)
  if (room === 'machines') return machineAnswer(method, id, part, query, body, Number(number))
  if (room === 'events' && !id)
    return [...events.values()].map(shown)
      .filter((event) => (!query.get('machine') || event.machine === query.get('machine')) && (!query.get('kind') || event.kind === query.get('kind')))
      .filter((event) => (query.get('open') !== 'true' || event.state !== 'cleared') && (!query.get('before') || event.began < Number(query.get('before'))))
      .sort((a, b) => b.began - a.began).slice(0, Number(query.get('limit') ?? 100))
  if (room === 'events') return eventAnswer(method, id, part, body)
  if (room === 'models') return [{ id: 'pump-2026', machine: 'pump', system: 'ensemble', card_markdown: card, sections: ['00', '01'], clips: 990, made: now() - 9e6 }]
  if (room === 'users') {
    if (method === 'POST') users.set(body.name, body.role)
    if (method === 'DELETE') users.delete(id)
    return [...users].map(([name, role]) => ({ name, role }))
  }
  throw new Problem(404, 'There is no such address.')
}

async function file(pathname, response) {
  const path = normalize(join(folder, pathname === '/' ? 'index.html' : pathname))
  const wanted = path.startsWith(folder) && extname(path) ? path : join(folder, 'index.html')
  response.writeHead(200, { 'Content-Type': TYPES[extname(wanted)] ?? 'application/octet-stream' })
  response.end(await readFile(wanted))
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
    const isIn = !wantsUsers || /mock-session/.test(request.headers.cookie ?? '')
    if (path[0] === 'session' && request.method === 'POST') {
      if (body.password !== 'admin') throw new Problem(401, 'The name or the password is wrong.')
      response.setHeader('Set-Cookie', 'mock-session=1; HttpOnly; SameSite=Strict; Path=/')
    } else if (!isIn) throw new Problem(401, 'Please sign in.')
    if (path[0] === 'session' && request.method === 'DELETE') response.setHeader('Set-Cookie', 'mock-session=; Max-Age=0; Path=/')
    if (path[0] === 'live') {
      response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' })
      response.write(': here\n\n')
      listeners.add(response)
      request.on('close', () => listeners.delete(response))
    } else if (path[2] === 'audio') sound(request, response, wav(25.6, 3, 10))
    else if (path[2] === 'normal.flac') sound(request, response, wav(10, 3, 99))
    else {
      const content = JSON.stringify(answer(request.method, path, address.searchParams, body))
      response.writeHead(content ? 200 : 204, { 'Content-Type': 'application/json' })
      response.end(content)
    }
  } catch (error) {
    response.writeHead(error.status ?? 500, { 'Content-Type': 'application/json' })
    response.end(JSON.stringify({ error: error.message }))
  }
})
server.listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${port}`))
