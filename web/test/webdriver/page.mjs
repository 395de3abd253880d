// The part of Playwright's interface that the tests use, over WebDriver: a browser, its contexts, a page in each. What drives a
// browser is a session, of firefox.mjs or webkit.mjs: it sends WebDriver's commands, and knows where downloads go.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import * as inPage from './inpage.mjs'
import { mouse, pressed } from './keys.mjs'
import { Locator } from './locator.mjs'

const library = Object.values(inPage).map(String).join('\n')

/** browser makes a browser of what opens its sessions: each context has one of its own. */
export function browser(sessions) {
  return {
    newContext: async (options = {}) => new Context(sessions, options),
    close: () => sessions.close(),
  }
}

class Context {
  limit = 30_000

  constructor(sessions, options) {
    this.sessions = sessions
    this.options = options
  }

  setDefaultTimeout(ms) { this.limit = ms }

  async newPage() {
    const { viewport = { width: 1280, height: 720 }, ...options } = this.options
    this.session = await this.sessions.open({ colorScheme: 'light', locale: 'en-US', ...options })
    const page = new Page(this.session, this)
    await page.setViewportSize(viewport)
    return page
  }

  close() { return this.sessions.done(this.session) }
}

class Page {
  faults = []
  keyboard = {
    press: key => this.perform(pressed(key)),
    insertText: text => this.ask(inPage.insert, [text]),
  }
  mouse = mouse(action => this.perform(action))

  constructor(session, context) {
    this.session = session
    this.context = context
  }

  goto(url) { return this.travel('go', { url }) }
  goBack() { return this.travel('back') }
  goForward() { return this.travel('forward') }
  title() { return this.evaluate(() => document.title) }
  locator(css, options = {}) { return new Locator(this, []).locator(css, options) }
  waitForTimeout(ms) { return pause(ms) }
  perform(action) { return this.session.send('perform', { actions: [action] }) }
  evaluate(what, arg) { return this.call(typeof what === 'function' ? what : `() => { ${what} }`, [arg]) }
  ask(what, args) { return this.call(what.name, args) }

  // The page reloads itself: Firefox asks the service worker for a page that its user reloads, and not for one that WebDriver does.
  async reload() {
    await this.evaluate(() => {
      window.leaving = true
      setTimeout(() => location.reload())
    })
    await this.waitForFunction(() => !window.leaving && document.readyState === 'complete')
  }

  async setViewportSize(viewport) {
    await this.session.resize(viewport)
    await this.waitForFunction(({ width, height }) => innerWidth === width && innerHeight === height, viewport)
  }

  emulateMedia({ colorScheme }) { return this.session.paint(colorScheme) }

  async travel(command, parameters = {}) {
    await this.evaluate(() => {}) // what has happened to the page that is left
    await this.session.send(command, parameters)
  }

  // call runs a function, given as it or as its text, with the functions of inpage.mjs at hand, and waits for what it promises.
  async call(what, args) {
    const script = `${library}
      const done = arguments[arguments.length - 1]
      const answer = result => done({ ...result, faults: watched() })
      Promise.resolve().then(() => (${what})(...arguments[0])).then(value => answer({ value }), error => answer({ error: String(error) }))`
    const { value, error, faults } = await this.session.send('run', { script, args: [args] })
    this.faults.push(...faults)
    if (error) throw new Error(`${error}, in ${String(what).slice(0, 200)}`)
    return value
  }

  /** until tries again until something is done; what it threw last is in the error at the end. */
  async until(what, limit = this.context.limit, describe = () => 'a test waits') {
    const end = performance.now() + limit
    for (let attempt = 0; ; attempt++) {
      const { done, error } = await what(attempt).catch(error => ({ error }))
      if (done !== undefined) return done
      if (performance.now() > end) throw new Error(`${describe()}: not within ${limit} ms: ${error?.message ?? 'it is not so'}`)
      await pause(Math.min(20 + 10 * attempt, 100))
    }
  }

  waitForFunction(what, arg, { timeout } = {}) {
    return this.until(async () => await this.evaluate(what, arg) ? { done: true } : {}, timeout, () => String(what))
  }

  /** waitForEvent waits for a download, the one event that tests wait for, and returns where it is. */
  async waitForEvent() {
    const files = () => readdirSync(this.session.downloads).filter(name => !/\.(part|wkdownload)$/.test(name))
    const before = files()
    const name = await this.until(async () => ({ done: files().find(one => !before.includes(one)) }))
    return { path: () => join(this.session.downloads, name) }
  }
}
