// The installed Firefox, driven over its own protocol, Marionette. A message is its length, a colon, and JSON [0, id, command, parameters];
// an answer is [1, id, error, value]. (playwright-core needs a Firefox of its own.)
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, soon } from './start.mjs'

const commands = {
  go: 'WebDriver:Navigate', back: 'WebDriver:Back', forward: 'WebDriver:Forward',
  run: 'WebDriver:ExecuteAsyncScript', perform: 'WebDriver:PerformActions', keys: 'WebDriver:ElementSendKeys',
}
const values = new Set(['run']) // commands whose result is in {value}

const preferences = downloads => ({
  'datareporting.policy.dataSubmissionEnabled': false, 'toolkit.legacyUserProfileCustomizations.stylesheets': true,
  'browser.download.folderList': 2, 'browser.download.dir': downloads, 'browser.download.alwaysOpenPanel': false,
})

// conversation waits for the greeting and resolves with a function that sends a command over a socket and resolves with its result.
async function conversation(socket) {
  const pending = new Map()
  let greeted
  const greeting = new Promise(resolve => { greeted = resolve })
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
      if (!Array.isArray(message)) {
        greeted()
        continue
      }
      const [, id, error, value] = message
      const { resolve, reject } = pending.get(id) ?? {}
      pending.delete(id)
      if (error) reject?.(new Error(`${error.error}: ${error.message}`))
      else resolve?.(value)
    }
  })
  socket.on('close', () => { for (const { reject } of pending.values()) reject(new Error('Firefox has exited')) })
  await greeting
  return (command, parameters = {}) => new Promise((resolve, reject) => {
    const id = ++last
    pending.set(id, { resolve, reject })
    const text = JSON.stringify([0, id, command, parameters])
    socket.write(`${Buffer.byteLength(text)}:${text}`)
  })
}

const connected = port => new Promise(resolve => {
  const socket = connect(port, '127.0.0.1')
  socket.once('connect', () => resolve(socket)).once('error', () => resolve(null))
})

// start starts a Firefox whose window contains only the page and can have any size.
async function start(path) {
  const port = await freePort()
  const profile = mkdtempSync(join(tmpdir(), 'firefox-'))
  const downloads = join(profile, 'downloads')
  for (const folder of [downloads, join(profile, 'chrome')]) mkdirSync(folder)
  writeFileSync(join(profile, 'chrome/userChrome.css'), ':root, body { min-width: 0 !important; min-height: 0 !important }\n')
  writeFileSync(join(profile, 'user.js'), Object.entries({ 'marionette.port': port, ...preferences(downloads) })
    .map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`).join(''))
  const child = spawn(path, ['--headless', '--kiosk', '--marionette', '--remote-allow-system-access', '--no-remote', '--profile', profile],
    { stdio: 'ignore', env: { ...process.env, HOME: profile, MOZ_HEADLESS_WIDTH: '1920', MOZ_HEADLESS_HEIGHT: '1920' } })
  const socket = await soon(() => connected(port), 'Firefox').catch(error => {
    child.kill()
    throw error
  })
  const ask = await conversation(socket)
  await ask('WebDriver:NewSession', { capabilities: {} })
  await ask('WebDriver:SetTimeouts', { script: 300_000, pageLoad: 60_000 })
  await inChrome(ask, hideToolbars)
  return {
    ask,
    downloads,
    async send(command, { element, ...parameters }) {
      const value = await ask(commands[command], { ...parameters, ...(element && { id: Object.values(element)[0] }), ...(values.has(command) && { sandbox: null }) })
      if (command === 'perform') await ask(commands.run, { script: `(${focused})(...arguments)`, args: [], sandbox: null })
      return values.has(command) ? value.value : value
    },
    resize: viewport => ask('WebDriver:SetWindowRect', viewport),
    paint: colorScheme => configure(ask, painted(colorScheme)),
    async end() {
      await ask('Marionette:Quit', { flags: ['eForceQuit'] }).catch(() => {})
      socket.destroy()
      if (child.exitCode === null) await new Promise(resolve => child.once('exit', resolve))
      rmSync(profile, { recursive: true, force: true })
    },
  }
}

const painted = colorScheme => ({ 'layout.css.prefers-color-scheme.content-override': colorScheme === 'dark' ? 0 : 1 })

// inChrome runs a function in the browser's own context, and resolves when the function calls its last argument.
async function inChrome(ask, run, ...args) {
  await ask('Marionette:SetContext', { value: 'chrome' })
  await ask('WebDriver:ExecuteAsyncScript', { script: `(${run})(...arguments)`, args })
  await ask('Marionette:SetContext', { value: 'content' })
}

// hideToolbars hides the toolbars after the window exists, because a Firefox that starts without them does not finish its start. It adds an
// element at each end of the window that passes the focus on, so that Tab cycles through the page.
function hideToolbars(done) {
  for (const id of ['navigator-toolbox', 'sidebar-main']) document.getElementById(id)?.style.setProperty('display', 'none', 'important')
  const ends = [document.createElement('button'), document.createElement('button')]
  for (const end of ends) end.style.cssText = 'position: fixed; opacity: 0; pointer-events: none'
  document.body.prepend(ends[0])
  document.body.append(ends[1])
  const { MOVEFOCUS_BACKWARD, MOVEFOCUS_FORWARD, FLAG_BYKEY } = Services.focus
  ends[0].onfocus = () => setTimeout(() => Services.focus.moveFocus(window, ends[1], MOVEFOCUS_BACKWARD, FLAG_BYKEY))
  ends[1].onfocus = () => setTimeout(() => Services.focus.moveFocus(window, ends[0], MOVEFOCUS_FORWARD, FLAG_BYKEY))
  done()
}

// focused waits up to a second until the page has the focus, which takes a moment when Tab leaves the window. While a page is being left,
// it has no focus.
function focused(done) {
  const end = performance.now() + 1000
  const look = () => { document.hasFocus() || performance.now() > end ? done() : setTimeout(look, 5) }
  look()
}

// configure sets preferences and optionally deletes the data of all sites.
const configure = (ask, preferences, forget = false) => inChrome(ask, settings, preferences, forget)

function settings(preferences, forget, done) {
  const set = { string: 'setStringPref', number: 'setIntPref', boolean: 'setBoolPref' }
  for (const [name, value] of Object.entries(preferences)) Services.prefs[set[typeof value]](name, value)
  const { CLEAR_DOM_STORAGES, CLEAR_COOKIES } = Ci.nsIClearDataService
  if (forget) Services.clearData.deleteData(CLEAR_DOM_STORAGES | CLEAR_COOKIES, { onDataDeleted: () => done() })
  else done()
}

// renew replaces the tab of a Firefox with an empty one.
async function renew({ ask }, { colorScheme, reducedMotion, locale, serviceWorkers }) {
  const { handle } = await ask('WebDriver:NewWindow', { type: 'tab', focus: true })
  await ask('WebDriver:CloseWindow')
  await ask('WebDriver:SwitchToWindow', { handle, focus: true })
  await configure(ask, {
    ...painted(colorScheme),
    'ui.prefersReducedMotion': reducedMotion === 'reduce' ? 1 : 0,
    'intl.accept_languages': locale,
    'dom.serviceWorkers.enabled': serviceWorkers !== 'block',
  }, true)
}

/** firefox opens sessions of the program at a path. It reuses finished sessions for later contexts. */
export function firefox(path) {
  const all = []
  const idle = []
  return {
    async open(options) {
      const session = idle.pop() ?? await start(path)
      if (!all.includes(session)) all.push(session)
      await renew(session, options)
      return session
    },
    async done(session) { idle.push(session) },
    close: () => Promise.all(all.map(session => session.end())),
  }
}
