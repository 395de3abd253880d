// A real browser for the tests: the system's Chromium or Chrome, driven by playwright-core. Nothing is downloaded.
import { chromium } from 'playwright-core'
import { findBrowser, missing } from './find.mjs'

export function launch() {
  const executablePath = findBrowser()
  if (!executablePath) throw new Error(missing)
  return chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync'],
  })
}

// watchPage collects what must not happen on a page: console errors, exceptions, violations of the policy.
function watchPage(page) {
  const faults = []
  page.on('console', message => { if (message.type() === 'error') faults.push(`console: ${message.text()}`) })
  page.on('pageerror', error => faults.push(`exception: ${error.message}`))
  return faults
}

/** open loads the page in a context of its own; faults lists what must not have happened when a test ends. */
export async function open(browser, address, options = {}) {
  const context = await browser.newContext({ reducedMotion: 'reduce', serviceWorkers: 'block', ...options })
  context.setDefaultTimeout(30_000) // a busy machine is slow, not wrong
  const page = await context.newPage()
  const faults = watchPage(page)
  await page.addInitScript(() => {
    addEventListener('securitypolicyviolation', event => console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`))
  })
  await page.goto(address)
  return { context, page, faults }
}

/** ready waits until the engine runs. */
export async function ready(page) {
  await page.locator('.engine', { hasText: /in this page/ }).waitFor({ timeout: 30_000 })
}

/** type runs a line in the command line, by keyboard, and waits until it is in the transcript. */
export async function type(page, line) {
  const before = await page.locator('.entry').count()
  await page.locator('#command').focus()
  await page.keyboard.insertText(line)
  await page.keyboard.press('Enter')
  await page.locator('.entry').nth(before).waitFor()
}

/** tabTo presses Tab (or another key) until what has the focus matches a selector; nothing but the keyboard is used. */
export async function tabTo(page, selector, key = 'Tab') {
  for (let i = 0; i < 120; i++) {
    if (await page.evaluate(s => document.activeElement?.matches(s) ?? false, selector)) return
    await page.keyboard.press(key)
  }
  throw new Error(`${selector} cannot be reached with ${key}`)
}

/** closeDialog closes the dialog that is, or is about to be, open, and waits until it is gone. */
export async function closeDialog(page) {
  await page.locator('dialog[open]').waitFor()
  await page.keyboard.press('Escape')
  await page.locator('dialog').waitFor({ state: 'detached' })
}

/** hash opens the dialog Share and reads the hash of everything that happened. */
export async function hash(page) {
  await page.locator('.bar nav button', { hasText: 'Share' }).click()
  await page.waitForFunction(() => /^[0-9a-f]{16,}$/.test(document.querySelector('#hash')?.textContent ?? ''))
  const [sum, link] = [await page.locator('#hash').textContent(), await page.locator('#link').inputValue()]
  await closeDialog(page)
  return { sum, link }
}

/** says waits until the last entry of the transcript says something. */
export const says = (page, text) => page.locator('.entry').last().filter({ hasText: text }).waitFor()
