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
    }
    close() {}
  }
  react = { ...(await import('react')), ...(await import('react-dom/client')) }
})
afterAll(() => mock.stop())
beforeEach(() => {
  streams = []
  requests = []
})
afterEach(() => unmount())

const settled = (live) => vi.waitFor(() => expect(live.isLoading).toBe(false), 5000)

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
  await vi.waitFor(() => expect(requests.filter((path) => path.includes('session'))).toHaveLength(2), 5000)
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

const shows = (text) => vi.waitFor(() => expect(document.body.textContent).toContain(text), 5000)
const get = async (path) => (await fetch(path)).json()

test('the overview', async () => {
  await open('#/overview')
  await shows('Coolant pump 1')
  await shows('Gearbox, conveyor 3')
  await shows('of normal sound collected')
  expect(document.querySelectorAll('.card')).toHaveLength(9)
})

test('the page of every machine, whatever its state', async () => {
  for (const { id, name } of await get('v1/machines')) {
    await open(`#/machine/${id}`)
    await shows(name)
    await shows('Sound of the last minute')
    await vi.waitFor(() => expect(document.body.textContent).not.toContain('Loading'), 5000)
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
  expect(document.querySelector('.question')).toBeNull()
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
  await shows('New tone at 2.6 kHz, 27 dB above normal (and 2 more), came 3 times')
})

test('the page of an event of every kind', async () => {
  const events = await get('v1/events')
  for (const kind of ['anomaly', 'drift', 'signal']) {
    const event = events.find((each) => each.kind === kind)
    await open(`#/event/${event.id}`)
    await shows(event.message)
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
  await vi.waitFor(() => expect(live.snapshot().machines['pump-2']).toBeUndefined())
  expect(requests).toEqual([])
})
