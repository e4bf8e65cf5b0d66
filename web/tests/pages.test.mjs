// @vitest-environment jsdom
/** Every page renders what the mock answers, and follows the live stream. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import fixtures from '../mock/fixtures.json'
import { startMock } from './startMock.mjs'

// These draw on canvases and decode audio, which the test environment cannot.
vi.mock('../src/components/Waveform', () => ({ Waveform: () => null }))
vi.mock('../src/components/Chart', () => ({ Chart: ({ summary }) => summary, axisStyle: () => ({}) }))

let mock, react, unmount, streams, requests

beforeAll(async () => {
  mock = await startMock()
  window.matchMedia = () => ({ matches: false, addEventListener: () => undefined })
  window.ResizeObserver = class {
    observe() {}
    disconnect() {}
  }
  window.scrollTo = () => undefined
  HTMLCanvasElement.prototype.getContext = () => null
  HTMLDialogElement.prototype.close = () => undefined
  const realFetch = globalThis.fetch
  // Signals of the test environment are not those of Node.
  globalThis.fetch = (path, { signal: _, ...options } = {}) => {
    requests.push(path)
    return realFetch(`${mock.address}/${path}`, options)
  }
  globalThis.EventSource = class extends EventTarget {
    constructor() {
      super()
      streams.push(this)
      queueMicrotask(() => this.onopen?.())
      // As the service does: without it the page takes the service for frozen and loads all again.
      this.beat = setInterval(() => this.dispatchEvent(new MessageEvent('heartbeat', { data: '{}' })), 1000)
    }
    close() {
      clearInterval(this.beat)
    }
  }
  react = { ...(await import('react')), ...(await import('react-dom/client')) }
})
afterAll(() => mock.stop())
beforeEach(() => {
  streams = []
  requests = []
})
afterEach(() => unmount())

const eventually = (check) => vi.waitFor(check, 30_000)
const settled = (live) => eventually(() => expect(live.isLoading).toBe(false))

async function open(hash) {
  requests.length = 0
  window.location.hash = hash
  const [{ Live }, { LiveContext }, { App }] = await Promise.all([
    import('../src/api/live'),
    import('../src/api/useLive'),
    import('../src/App'),
  ])
  const live = new Live()
  await live.start()
  // The state is loaded again when the stream has begun.
  await eventually(() => expect(requests.filter((path) => path.includes('session')).length).toBeGreaterThan(1))
  await settled(live)
  const root = react.createRoot(document.body.appendChild(document.createElement('div')))
  root.render(react.createElement(LiveContext, { value: live }, react.createElement(App)))
  unmount = () => {
    root.unmount()
    live.signedOut()
    document.body.replaceChildren()
  }
  return live
}

const shows = (text) => eventually(() => expect(document.body.textContent).toContain(text))
const get = async (path) => (await fetch(path)).json()

test('the overview', async () => {
  await open('#/overview')
  await shows('Coolant pump 1')
  await shows('Gearbox, conveyor 3')
  await shows('of normal sound collected')
  expect(document.querySelectorAll('.card')).toHaveLength(9)
})

test('the page of every machine, whatever its state', async () => {
  for (const { id, name, listening } of await get('v1/machines')) {
    await open(`#/machine/${id}`)
    await shows(name)
    await shows(listening === 'snapshots' ? 'Spectrum against the baseline' : 'Sound of the last minute')
    await eventually(() => expect(document.body.textContent).not.toContain('Loading'))
    unmount()
  }
  await open('#/machine/none')
  await shows('There is no machine “none”.')
})

test('a machine that sounds different since the start asks whether it is healthy', async () => {
  await open('#/machine/press-hydraulics')
  await shows('is it healthy?')
  await shows('Provisional threshold')
  await shows('from 1 recording')
  const yes = [...document.querySelectorAll('button')].find((button) => button.textContent === 'Yes, healthy')
  yes.click()
  await shows('Commissioned on')
  await eventually(() => expect(document.querySelector('.question')).toBeNull())
})

test('a sensor, its unit, its bands and its lasting changes', async () => {
  await open('#/machine/mill-2')
  await shows('vibration in g, full scale 50 g')
  await shows('25.6 kHz')
  await shows('0.42 g RMS')
  await shows('30–60 Hz: as usual')
  document.querySelectorAll('button').forEach((button) => button.textContent === '1 h' && button.click())
  await shows('New tone at 130 Hz, 30 dB above normal')
})

test('how bad it is, and when it will reach alarm', async () => {
  await open('#/machine/fan-roof')
  await shows('Clear change: 74 % of the way to alarm; higher than on 97 % of its days; second worst of 3 machines like it')
  await shows('Reaches alarm in 3 to 9 days')
})

test('an event that came and went, with what has changed and its baseline', async () => {
  const event = (await get('v1/events?machine=pump-1')).find(({ episodes }) => episodes.length)
  await open(`#/event/${event.id}`)
  await shows('What has changed')
  await shows('New tone at 2.6 kHz, 27 dB above normal')
  await shows('Strength rises and falls 29.8 times per second')
  await shows('Came 3 times, 1 min 5 s in all.')
  await shows('Compared with the baseline of')
  unmount()
  await open('#/events?machine=pump-1')
  await shows('New tone at 2.6 kHz, 27 dB above normal (and 4 more), came 3 times')
})

test('the page of an event of every kind', async () => {
  const events = await get('v1/events')
  for (const kind of ['anomaly', 'drift', 'signal']) {
    const event = events.find((each) => each.kind === kind)
    await open(`#/event/${event.id}`)
    await shows(event.findings.length ? 'What has changed' : event.message)
    await shows('Timeline')
    unmount()
  }
  await open('#/events')
  await shows('Acknowledge all')
})

test.each([
  ['#/models', 'Detects bearing wear and cavitation.'],
  ['#/settings', 'System theme'],
  ['#/add', 'Pushed by HTTP'],
  ['#/nowhere', 'This page does not exist.'],
])('the page %s', async (hash, text) => {
  await open(hash)
  await shows(text)
})

const NEWS = 'Hear any machine live'
const NOTHING_MIGRATED = { ...fixtures.UpgradeNotice, backup: '', config_changes: [], config_change_sentences: [] }

/** The overview for a user who has not read what an upgrade brought. */
async function openUpgraded(upgrade) {
  const realFetch = globalThis.fetch
  globalThis.fetch = async (path, options) => {
    const reply = await realFetch(path, options)
    return path === 'v1/status' ? Response.json({ ...(await reply.json()), upgrade: { ...NOTHING_MIGRATED, ...upgrade } }) : reply
  }
  try {
    await open('#/overview')
    await shows('What is new')
  } finally {
    globalThis.fetch = realFetch
  }
  return document.querySelector('.upgrade')
}

test.each(['', '0.1.0'])('news are shown to who comes from the release before them: %j', async (from_version) => {
  const banner = await openUpgraded({ from_version, to_version: '0.2.0' })
  expect(banner.textContent).toContain(NEWS)
  expect(banner.querySelectorAll('details > ul > li')).toHaveLength(7)
})

test.each(['0.1.1', '0.2.0', '0.10.0', '1.0.0'])('old news are not shown as new to who comes from %s', async (from_version) => {
  const banner = await openUpgraded({ from_version, to_version: '2.0.0' })
  expect(banner.textContent).toContain(`Upgraded from ssdpt ${from_version} to 2.0.0`)
  expect(banner.textContent).not.toContain(NEWS)
  expect(banner.textContent).not.toContain('What changed') // there is nothing below it
  unmount()
  const migrated = await openUpgraded({ from_version, to_version: '2.0.0', backup: 'backups/before.db' })
  expect(migrated.textContent).toContain('backups/before.db')
})

test('another language is shown at once, and kept', async () => {
  await open('#/settings')
  await shows('System theme')
  const select = document.querySelector('select:has(option[lang=ja])')
  expect([...select.options].map(({ textContent }) => textContent)).toEqual(['English', 'Deutsch', 'Español', '日本語'])
  const choose = (language) => {
    select.value = language
    select.dispatchEvent(new Event('change', { bubbles: true }))
  }
  for (const [language, title] of [['de', 'Einstellungen'], ['es', 'Ajustes'], ['ja', '設定']]) {
    choose(language)
    await shows(title)
    expect(document.documentElement.lang).toBe(language)
    expect(localStorage.getItem('ssdpt-language')).toBe(language)
    expect(select.isConnected).toBe(true) // rendered again, not loaded again
  }
  choose('en')
  await shows('System theme')
})

test.each([['de', /2026-W\d\d: \d\d\.\d\d\.\d{4}/], ['es', /\d\d\/\d\d\/\d{4}/], ['ja', /\d{4}\/\d\d\/\d\d/]])('the weekly report in %s', async (language, dates) => {
  const { showLanguage } = await import('../src/i18n/language')
  await showLanguage(language)
  await open('#/report')
  await vi.waitFor(() => expect(document.querySelector('.report')).not.toBeNull(), 5000)
  expect(document.querySelector('select option').textContent).toMatch(dates)
  await showLanguage('en')
})

test('the overview in German', async () => {
  const { showLanguage } = await import('../src/i18n/language')
  await showLanguage('de')
  try {
    await open('#/overview')
    await shows('Erreicht Alarm in')
    await shows('Normal seit')
    expect(document.querySelector('.cards').textContent).toMatch(/Wert\d+,\d+/)
  } finally {
    await showLanguage('en')
  }
})

const send = (name, data) => streams.at(-1).dispatchEvent(new MessageEvent(name, { data: JSON.stringify(data) }))

test('only the service says in which state a machine is and how many events it has', async () => {
  const live = await open('#/overview')
  const before = live.snapshot().machines['pump-2']
  send('event', { ...fixtures.Event, machine: 'pump-2', began: before.state_since + 1e6, ended: null })
  send('reading', { ...fixtures.Reading, machine: 'pump-2', time: before.state_since + 1e6, state: 'alarm', smoothed: 7.77 })
  const { smoothed, last_sound, ...others } = live.snapshot().machines['pump-2']
  expect([smoothed, last_sound]).toEqual([7.77, before.state_since + 1e6])
  expect(others).toMatchObject({ state: 'off', state_since: before.state_since, ongoing_events: before.ongoing_events, last_event: before.last_event })
  send('machine', { ...before, state: 'alarm', ongoing_events: 3 })
  await shows('3 active events')
})

test('what changes while the state is loaded is not lost', async () => {
  const live = await open('#/overview')
  const machine = live.snapshot().machines['pump-2']
  const loading = live.load()
  send('machine', { ...machine, state: 'alarm' })
  await loading
  expect(live.snapshot().machines['pump-2'].state).toBe('alarm')
})

test('a stream that begins loads what has changed before', async () => {
  const live = await open('#/overview')
  requests.length = 0
  streams.at(-1).onopen()
  await settled(live)
  expect(requests).toContain('v1/status')
})

test('events of a machine are announced unless it is muted now', async () => {
  const live = await open('#/overview')
  const machine = live.snapshot().machines['pump-2']
  const begin = (id) => send('event', { ...fixtures.Event, id, machine: 'pump-2', acknowledged: null, state: 'active', message: id })
  send('machine', { ...machine, muted_until: live.clock.now() + 60 })
  begin('while muted')
  expect(live.snapshot().announcement).toBe('')
  send('machine', { ...machine, muted_until: live.clock.now() - 1 })
  begin('after the mute')
  expect(live.snapshot().announcement).toContain('after the mute')
})

test('the overview says what is left out for lack of computing time, until nothing is', async () => {
  await open('#/overview')
  const title = 'This computer cannot keep up'
  const sheds = (shedding) => send('service', { ...fixtures.ServiceStatus, shedding })
  expect(document.body.textContent).not.toContain(title)
  sheds({ degree: 1, score_every: 2, second_every: 1, since: 1790000000 })
  await shows('one in 2 segments')
  sheds({ degree: 5, score_every: 8, second_every: 8, since: 1790000000 })
  await shows('one in 8 seconds')
  sheds(null)
  await vi.waitFor(() => expect(document.body.textContent).not.toContain(title))
})

test('messages of the stream are shown without a request', async () => {
  const live = await open('#/overview')
  await shows('Coolant pump 2')
  requests.length = 0
  send('service', { ...fixtures.ServiceStatus, problems: ['the disk is full'] })
  await shows('the disk is full')
  send('event', { ...fixtures.Event, machine: 'pump-2', message: 'Coolant pump 2: unusual sound' })
  await shows('Coolant pump 2: unusual sound')
  send('reading', { ...fixtures.Reading, machine: 'pump-2', state: 'alarm', smoothed: 7.77 })
  await shows('7.77')
  send('removed', { machine: 'pump-2' })
  await eventually(() => expect(live.snapshot().machines['pump-2']).toBeUndefined())
  expect(requests).toEqual([])
})
