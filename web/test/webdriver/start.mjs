// What starting a browser needs: a port, and patience.
import { createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** freePort is a port that nobody listens on. */
export async function freePort() {
  const server = createServer()
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address()
  await new Promise(resolve => server.close(resolve))
  return port
}

/** soon tries until there is something. */
export async function soon(what, name) {
  for (const end = performance.now() + 60_000; performance.now() < end; await pause(50)) {
    const there = await what()
    if (there) return there
  }
  throw new Error(`${name} does not answer`)
}
