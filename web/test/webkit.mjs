// WebKit as Debian has it (apt-get install webkit2gtk-driver xvfb), driven over WebDriver: MiniBrowser on a screen that nobody sees.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from './firefox.mjs'

// screen starts an X server without a screen, and returns what it is called.
async function screen() {
  const child = spawn('Xvfb', ['-displayfd', '1', '-screen', '0', '1440x1000x24', '-nolisten', 'tcp'], { stdio: ['ignore', 'pipe', 'ignore'] })
  const [line] = await once(createInterface(child.stdout), 'line')
  return { display: `:${line}`, child }
}

/** webkit starts the driver at a path; what it returns is used as that of firefox is. */
export async function webkit(path) {
  const { display, child: x } = await screen()
  const port = await freePort()
  const env = { ...process.env, DISPLAY: display, WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1', WEBKIT_DISABLE_COMPOSITING_MODE: '1', LIBGL_ALWAYS_SOFTWARE: '1', GTK_A11Y: 'none' }
  const driver = spawn(path, [`--port=${port}`], { stdio: 'ignore', env })
  const send = async (method, command, body) => {
    const answer = await fetch(`http://127.0.0.1:${port}${command}`, { method, ...(body ? { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } } : {}) })
    const { value } = await answer.json()
    if (!answer.ok) throw new Error(`${value?.error}: ${value?.message}`)
    return value
  }
  for (const end = Date.now() + 60_000; ; await sleep(200)) {
    const up = await send('GET', '/status').catch(() => null)
    if (up) break
    if (Date.now() > end) throw new Error('WebKitWebDriver does not answer')
  }
  const stop = () => { driver.kill(); x.kill() }
  const session = await send('POST', '/session', { capabilities: { alwaysMatch: {} } }).catch(error => {
    stop()
    throw error
  })
  const at = `/session/${session.sessionId}`
  await send('POST', `${at}/timeouts`, { script: 60_000, pageLoad: 120_000 })
  const run = (what, ...args) => send('POST', `${at}/execute/sync`, { script: `return (${what})(...arguments)`, args })
  return {
    run,
    go: url => send('POST', `${at}/url`, { url }),
    async until(what, ...args) {
      for (const end = Date.now() + 90_000; !(await run(what, ...args)); await sleep(100)) {
        if (Date.now() > end) throw new Error(`this does not come true: ${what}`)
      }
    },
    async keys(text) {
      const value = await send('GET', `${at}/element/active`)
      await send('POST', `/session/${session.sessionId}/element/${Object.values(value)[0]}/value`, { text })
    },
    async close() {
      await send('DELETE', at).catch(() => {})
      stop()
    },
  }
}
