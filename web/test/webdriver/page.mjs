// The part of Playwright's interface that the tests use, over WebDriver: a browser, its contexts, and a page in each. A session drives a
// browser (firefox.mjs, webkit.mjs): it sends WebDriver commands and has the folder of downloads.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import * as inPage from './inpage.mjs'
import { mouse, pressed } from './keys.mjs'
import { Locator } from './locator.mjs'

const library = Object.values(inPage).map(String).join('\n')

/** browser returns a browser for a factory of sessions. Each context has its own session. */
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

  // The page reloads itself, because Firefox bypasses the service worker when WebDriver reloads a page.
  async reload() {
    await this.evaluate(() => {
      window.leaving = true
      setTimeout(() => location.reload())
    })
    await this.waitForFunction(() => !window.leaving && document.readyState === 'complete')
  }

  // After a download MiniBrowser has a bar below the page, so the window has to be larger than the page.
  async setViewportSize(viewport) {
    let { width, height } = viewport
    await this.session.resize(viewport)
    await this.until(async attempt => {
      const [wide, high] = await this.evaluate(() => [innerWidth, innerHeight])
      if (wide === viewport.width && high === viewport.height) return { done: true }
      if (attempt % 10 < 9) return {}
      width += viewport.width - wide
      height += viewport.height - high
      await this.session.resize({ width, height })
      return {}
    }, undefined, () => 'the window is resized')
  }

  emulateMedia({ colorScheme }) { return this.session.paint(colorScheme) }

  async travel(command, parameters = {}) {
    await this.evaluate(() => {}) // collects the faults of the page that is left
    await this.session.send(command, parameters)
  }

  // call runs a function, given as a function or as text, together with the functions of inpage.mjs, and waits for its promise.
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

  /** until repeats a function until it returns done. The error after the time limit contains the last error. */
  async until(what, limit = this.context.limit, describe = () => 'a test waits') {
    const end = performance.now() + limit
    for (let attempt = 0; ; attempt++) {
      const { done, error } = await what(attempt).catch(error => ({ error }))
      if (done !== undefined) return done
      if (performance.now() > end) throw new Error(`${describe()}: not within ${limit} ms: ${error?.message ?? 'the condition does not hold'}`)
      await pause(Math.min(20 + 10 * attempt, 100))
    }
  }

  waitForFunction(what, arg, { timeout } = {}) {
    return this.until(async () => await this.evaluate(what, arg) ? { done: true } : {}, timeout, () => String(what))
  }

  /** waitForEvent waits for a download, the only event that the tests use, and returns its path. */
  async waitForEvent() {
    const files = () => readdirSync(this.session.downloads).filter(name => !/\.(part|wkdownload)$/.test(name))
    const before = files()
    const name = await this.until(async () => ({ done: files().find(one => !before.includes(one)) }))
    return { path: () => join(this.session.downloads, name) }
  }
}
