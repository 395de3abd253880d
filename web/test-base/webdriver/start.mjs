// Helpers for starting a browser.
import { createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** freePort returns a free port. */
export async function freePort() {
  const server = createServer()
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address()
  await new Promise(resolve => server.close(resolve))
  return port
}

/** soon calls a function until it returns a value, for at most a minute. */
export async function soon(what, name) {
  for (const end = performance.now() + 60_000; performance.now() < end; await pause(50)) {
    const there = await what()
    if (there) return there
  }
  throw new Error(`${name} does not answer`)
}
