// Firefox as it is installed, driven over its own protocol, Marionette: a message is its length, a colon, and JSON
// [0, id, command, parameters]; an answer is [1, id, error, value]. (playwright-core wants a Firefox of its own.)
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** freePort is a port that nobody listens on. */
export async function freePort() {
  const server = createServer()
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address()
  await new Promise(resolve => server.close(resolve))
  return port
}

// dial connects to a port that will soon be listened to.
async function dial(port, until) {
  for (;;) {
    const socket = connect(port, '127.0.0.1')
    const answered = await new Promise(resolve => { socket.once('connect', () => resolve(true)).once('error', () => resolve(false)) })
    if (answered) return socket
    if (Date.now() > until) throw new Error('Firefox does not answer')
    await sleep(200)
  }
}

// conversation sends commands over a socket and returns a function that resolves with their values.
function conversation(socket) {
  const pending = new Map()
  let received = Buffer.alloc(0)
  let last = 0
  socket.on('data', bytes => {
    received = Buffer.concat([received, bytes])
    for (;;) {
      const colon = received.indexOf(58)
      const length = Number(received.subarray(0, Math.max(colon, 0)))
      if (colon < 0 || received.length < colon + 1 + length) return
      const message = JSON.parse(received.subarray(colon + 1, colon + 1 + length))
      received = received.subarray(colon + 1 + length)
      if (!Array.isArray(message)) continue // its greeting
      const [, id, error, value] = message
      const { resolve, reject } = pending.get(id) ?? {}
      pending.delete(id)
      if (error) reject?.(new Error(`${error.error}: ${error.message}`))
      else resolve?.(value)
    }
  })
  return (command, parameters = {}) => new Promise((resolve, reject) => {
    const id = ++last
    pending.set(id, { resolve, reject })
    const text = JSON.stringify([0, id, command, parameters])
    socket.write(`${Buffer.byteLength(text)}:${text}`)
  })
}

/** firefox starts the program at a path; go opens an address, run evaluates a function in the page, until waits for one that
 * is true of it, keys types into what has the focus. */
export async function firefox(path) {
  const port = await freePort()
  const profile = mkdtempSync(join(tmpdir(), 'firefox-'))
  const preferences = { 'marionette.port': port, 'ui.prefersReducedMotion': 1, 'datareporting.policy.dataSubmissionEnabled': false }
  writeFileSync(join(profile, 'user.js'), Object.entries(preferences).map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`).join(''))
  const child = spawn(path, ['--headless', '--marionette', '--no-remote', '--profile', profile], { stdio: 'ignore', env: { ...process.env, HOME: profile } })
  const socket = await dial(port, Date.now() + 120_000).catch(error => {
    child.kill()
    throw error
  })
  const send = conversation(socket)
  await send('WebDriver:NewSession', { capabilities: {} })
  await send('WebDriver:SetTimeouts', { script: 60_000, pageLoad: 60_000 })
  const run = async (what, ...args) => (await send('WebDriver:ExecuteScript', { script: `return (${what})(...arguments)`, args, sandbox: null })).value
  return {
    run,
    go: url => send('WebDriver:Navigate', { url }),
    async until(what, ...args) {
      for (const end = Date.now() + 60_000; !(await run(what, ...args)); await sleep(100)) {
        if (Date.now() > end) throw new Error(`this does not come true: ${what}`)
      }
    },
    async keys(text) {
      const { value } = await send('WebDriver:GetActiveElement')
      await send('WebDriver:ElementSendKeys', { id: Object.values(value)[0], text })
    },
    async close() {
      await send('Marionette:Quit', { flags: ['eForceQuit'] }).catch(() => {})
      socket.destroy()
      if (child.exitCode === null) await new Promise(resolve => child.once('exit', resolve))
      rmSync(profile, { recursive: true, force: true })
    },
  }
}
