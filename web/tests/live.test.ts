/** The state of the page, against a service that is played by a function. */
import { afterEach, expect, test, vi } from 'vitest'
import { Live } from '../src/api/live'

afterEach(() => vi.unstubAllGlobals())

const STATUS = { now: 1.79e9, speed: 1, version: '1', machines: [], user: { name: 'ann', role: 'admin' } }

test('a request that is refused while the first admin signs in shows no sign-in page', async () => {
  const phases = new Set<string>()
  const live = new Live()
  live.subscribe(() => phases.add(live.snapshot().phase))
  let hasUsers = false
  let isSignedIn = false
  const answer = (body: unknown, status = 200) => new Response(JSON.stringify(body), { status })
  vi.stubGlobal('window', globalThis)
  vi.stubGlobal(
    'EventSource',
    class {
      addEventListener() {}
      close() {}
    },
  )
  vi.stubGlobal('fetch', async (address: string, { method }: RequestInit) => {
    if (method === 'POST' && address === 'v1/users') {
      hasUsers = true
      return answer({ name: 'ann' })
    }
    if (method === 'POST' && address === 'v1/session') {
      await live.load().catch(() => null) // as after a stream that the service has ended
      isSignedIn = true
      return answer({ csrf: 'c' })
    }
    if (hasUsers && !isSignedIn) return answer({ error: 'please sign in' }, 401)
    return answer(address.startsWith('v1/status') ? STATUS : address.startsWith('v1/events') ? [] : { csrf: '' })
  })
  await live.start()
  await live.createAdmin('ann', 'correct horse battery')
  expect([...phases]).toEqual(['ready'])
  expect(live.snapshot().user?.name).toBe('ann')
  live.signedOut()
  expect([...phases]).toEqual(['ready', 'signed-out'])
})
