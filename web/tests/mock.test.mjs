/** The mock answers like the service: with the shapes of its OpenAPI description. */
import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startMock } from './startMock.mjs'

const openapi = JSON.parse(readFileSync(new URL('../openapi.json', import.meta.url), 'utf-8'))
const ajv = new Ajv2020({ strict: false, allErrors: true, formats: { binary: true, path: true } })
ajv.addSchema(openapi, 'openapi')

let mock
let address = ''

beforeAll(async () => {
  mock = await startMock()
  address = mock.address
})
afterAll(() => mock.stop())

/** A place in the description, as a JSON pointer. */
function validator(...place) {
  const pointer = place.map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1')).map(encodeURIComponent).join('/')
  const found = ajv.getSchema(`openapi#/${pointer}`)
  if (!found) throw new Error(`${place.join(' ')} is not described`)
  return found
}

async function ask(method, template, path = template, body = undefined, status = 200) {
  const response = await fetch(address + path, { method, body: body === undefined ? null : JSON.stringify(body) })
  expect(response.status, `${method} ${path}`).toBe(status)
  const content = await response.json()
  const validate = validator('paths', template, method.toLowerCase(), 'responses', String(status), 'content', 'application/json', 'schema')
  expect(validate(content) || validate.errors, `${method} ${path}`).toBe(true)
  return content
}

test('what the page reads', async () => {
  await ask('GET', '/v1/status')
  await ask('GET', '/v1/session')
  await ask('GET', '/v1/models')
  await ask('GET', '/v1/users')
  const machines = await ask('GET', '/v1/machines')
  expect(machines).toHaveLength(9)
  for (const { id } of machines)
    for (const part of ['', '/trend', '/bands', '/spectrum', '/spectrogram', '/sound'])
      await ask('GET', `/v1/machines/{machine}${part}`, `/v1/machines/${id}${part}`)
  await ask('GET', '/v1/machines/{machine}/thresholds', '/v1/machines/pump-1/thresholds?false_alerts_per_week=2')
  const [event] = await ask('GET', '/v1/events')
  await ask('GET', '/v1/events/{event}', `/v1/events/${event.id}`)
  await ask('GET', '/v1/events/{event}/spectrogram', `/v1/events/${event.id}/spectrogram`)
})

test('what the page changes', async () => {
  const pump = (method, part, body = undefined, template = part) =>
    ask(method, `/v1/machines/{machine}/${template}`, `/v1/machines/pump-2/${part}`, body)
  await pump('POST', 'mute', { minutes: 5 })
  await pump('DELETE', 'mute')
  await pump('POST', 'learn', { minutes: 5 })
  await pump('DELETE', 'learn')
  await pump('POST', 'commission', { healthy: true })
  await pump('POST', 'accept-drift')
  await pump('PUT', 'operating-points/1', { name: 'idle' }, 'operating-points/{number}')
  await pump('PUT', 'thresholds', { false_alerts_per_week: 2 })
  await ask('POST', '/v1/machines', '/v1/machines', { id: 'new', name: 'New', site: '', source: { kind: 'pushed' } }, 201)
  const [event] = await ask('GET', '/v1/events')
  for (const [part, body] of Object.entries({ acknowledge: { comment: 'seen' }, comment: { text: 'greased' }, label: { label: 'fault' } }))
    await ask('POST', `/v1/events/{event}/${part}`, `/v1/events/${event.id}/${part}`, body)
})

test('messages of the live stream', async () => {
  const validate = validator('paths', '/v1/live', 'get', 'responses', '200', 'content', 'text/event-stream', 'schema')
  const controller = new AbortController()
  const reader = (await fetch(`${address}/v1/live`, { signal: controller.signal })).body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const names = new Set()
  while (!(names.has('machine') && names.has('reading'))) {
    text += (await reader.read()).value ?? ''
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const [, event = '', data = ''] = /^event: (\w+)\ndata: (.*)$/.exec(block) ?? []
      if (!event) continue
      names.add(event)
      expect(validate({ event, data: JSON.parse(data) }) || validate.errors, event).toBe(true)
    }
  }
  controller.abort()
})
