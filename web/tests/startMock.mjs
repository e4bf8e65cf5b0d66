/** Starts the mock of the service on a free port. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'

export async function startMock() {
  const path = join(import.meta.dirname, '../mock/server.mjs')
  const mock = spawn(process.execPath, [path, '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] })
  const address = await new Promise((resolve) => mock.stdout.once('data', (line) => resolve(line.toString().trim())))
  return { address, stop: () => mock.kill() }
}
