// A browser of the system for the tests; nothing is downloaded. Chromium or Chrome is driven by playwright-core, Firefox and WebKit over
// WebDriver, with the same interface (webdriver/page.mjs).
import { chromium } from 'playwright-core'
import { contention } from './contention.mjs'
import { browsers, tested } from './find.mjs'
import { firefox } from './webdriver/firefox.mjs'
import { browser as driven } from './webdriver/page.mjs'
import { webkit } from './webdriver/webkit.mjs'

const starts = {
  chromium: executablePath => chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync'],
  }),
  firefox: path => driven(firefox(path)),
  webkit: path => driven(webkit(path)),
}

// brief is a time limit in ms. Playwright looks for an element every half second when a wait takes longer than 0.3 s, but every tenth of a
// second if the limit of the wait is below 2.5 s.
const brief = 2_000

// attentive divides the waits of Playwright's locators into brief ones. The last one has the usual limit. A click waits in the same way.
function attentive(page) {
  const locators = Object.getPrototypeOf(page.locator('html'))
  const { waitFor, click } = locators
  if (waitFor.attentive) return
  locators.waitFor = async function (options = {}) {
    const timedOut = error => {
      if (error.name !== 'TimeoutError') throw error
      return true
    }
    const begun = performance.now()
    while (performance.now() - begun < (options.timeout ?? 30_000) - brief) {
      if (!await waitFor.call(this, { ...options, timeout: brief }).catch(timedOut)) return
    }
    await waitFor.call(this, options)
  }
  locators.waitFor.attentive = true
  locators.click = async function (options) {
    await this.waitFor()
    await click.call(this, options)
  }
}

/** launch starts the browser under test. */
export async function launch() {
  const name = tested()
  const path = browsers[name].find()
  if (!path) throw new Error(browsers[name].missing)
  return starts[name](path)
}

/** onlyChromium returns the value for skip: why in a browser other than Chromium, otherwise false. */
export const onlyChromium = why => tested() === 'chromium' ? false : why

// watchPage collects console errors, exceptions and policy violations of a page.
async function watchPage(page) {
  if (page.faults) return page.faults
  attentive(page)
  const faults = []
  page.on('console', message => { if (message.type() === 'error') faults.push(`console: ${message.text()}`) })
  page.on('pageerror', error => faults.push(`exception: ${error.message}`))
  await page.addInitScript(() => {
    addEventListener('securitypolicyviolation', event => console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`))
  })
  return faults
}

/** patience returns the time limit in ms for a wait: half a minute, and up to five times that while other processes use the machine. */
const patience = () => 30_000 * Math.min(5, contention())

/** open loads the page in a new context. faults lists console errors and the like, and must be empty at the end of a test. */
export async function open(browser, address, options = {}) {
  const context = await browser.newContext({ reducedMotion: 'reduce', serviceWorkers: 'block', ...options })
  context.setDefaultTimeout(patience())
  const page = await context.newPage()
  const faults = await watchPage(page)
  await page.goto(address)
  return { context, page, faults }
}

/** ready waits until the engine runs. */
export async function ready(page) {
  await page.locator('.engine', { hasText: /in this page/ }).waitFor()
}

/** type runs a line in the command line, by keyboard, and waits for its entry in the transcript. */
export async function type(page, line) {
  const before = await page.locator('.entry').count()
  await page.locator('#command').focus()
  await page.keyboard.insertText(line)
  await page.keyboard.press('Enter')
  await page.locator('.entry').nth(before).waitFor()
}

/** freePlay starts free play: a new cluster of the user's own. */
export async function freePlay(page) {
  await ready(page)
  await page.locator('.bar nav button', { hasText: 'Lessons' }).click()
  await page.locator('dialog button', { hasText: 'Free play' }).click()
  await page.locator('.guide h2', { hasText: 'Free play' }).waitFor()
}

/** takeLesson opens a lesson from the map. */
export async function takeLesson(page, id) {
  await page.locator('.bar nav button').first().click()
  await page.locator(`dialog .lesson[data-lesson="${id}"]`).click()
  await page.locator(`.guide[data-lesson="${id}"] .dots`).waitFor()
}

// stops counts the stops of Tab between the focus and what matches a selector, or returns 0 if it does not find both.
const stops = ([selector, back]) => {
  const within = document.querySelector('dialog[open]') ?? document
  const all = [...within.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]')]
    .filter(e => e.tabIndex >= 0 && !e.disabled && e.getClientRects().length > 0 && (e.type !== 'radio' || e.checked || e === e.closest('fieldset')?.querySelector('input')))
  const [from, matches] = [all.indexOf(document.activeElement), e => e.matches(selector)]
  const to = back ? all.slice(0, Math.max(from, 0)).findLastIndex(matches) : from + 1 + all.slice(from + 1).findIndex(matches)
  return from < 0 || to < 0 ? 0 : Math.abs(to - from)
}

/** tabTo presses Tab (or another key) until what has the focus matches a selector; nothing but the keyboard is used. */
export async function tabTo(page, selector, key = 'Tab') {
  const focused = () => page.evaluate(s => document.activeElement?.matches(s) ?? false, selector)
  if (await focused()) return
  for (let n = await page.evaluate(stops, [selector, key !== 'Tab']); n > 1; n--) await page.keyboard.press(key) // most of the way without looking
  for (let i = 0; i < 120; i++) {
    if (await focused()) return
    await page.keyboard.press(key)
  }
  throw new Error(`${selector} cannot be reached with ${key}`)
}

/** closeDialog closes the dialog that is open, or is about to open, and waits until it is closed. */
export async function closeDialog(page) {
  await page.locator('dialog[open]').waitFor()
  await page.keyboard.press('Escape')
  await page.locator('dialog').waitFor({ state: 'detached' })
}

/** hash opens the dialog Share and returns the hash of the run and the link, which may appear in either order. */
export async function hash(page) {
  await page.locator('.bar nav button', { hasText: 'Share' }).click()
  await page.waitForFunction(() => /^[0-9a-f]{16,}$/.test(document.querySelector('#hash')?.textContent ?? '') && document.querySelector('#link').value !== '')
  const [sum, link] = [await page.locator('#hash').textContent(), await page.locator('#link').inputValue()]
  await closeDialog(page)
  return { sum, link }
}

/** says waits until the last entry of the transcript contains text. */
export const says = (page, text) => page.locator('.entry').last().filter({ hasText: text }).waitFor()
