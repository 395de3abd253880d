// A real browser for the tests: the system's Chromium or Chrome, driven by playwright-core. Nothing is downloaded.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chromium } from 'playwright-core'

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome']
const places = ['/usr/bin/chromium', '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome', '/Applications/Chromium.app/Contents/MacOS/Chromium']

/** findBrowser returns the path of a browser, or null. CHROMIUM names one directly. */
export function findBrowser() {
  if (process.env.CHROMIUM) return process.env.CHROMIUM
  for (const name of names) {
    try {
      return execFileSync('/bin/sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim()
    } catch {
      // Not under this name.
    }
  }
  return places.find(existsSync) ?? null
}

export const missing = `the browser tests need Chromium or Chrome, and none was found.
  Debian, Ubuntu:  apt-get install chromium
  macOS:           brew install --cask chromium
  elsewhere:       set CHROMIUM to the program's path`

export function launch() {
  const executablePath = findBrowser()
  if (!executablePath) throw new Error(missing)
  return chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync'],
  })
}

/** watchPage collects what must not happen on a page: console errors, exceptions, violations of the policy. */
export function watchPage(page) {
  const faults = []
  page.on('console', message => { if (message.type() === 'error') faults.push(`console: ${message.text()}`) })
  page.on('pageerror', error => faults.push(`exception: ${error.message}`))
  return faults
}

/** ready waits until the engine runs. */
export async function ready(page) {
  await page.locator('.engine', { hasText: /in this page/ }).waitFor({ timeout: 30_000 })
}

/** type runs a line in the command line, by keyboard, and waits until it is in the transcript. */
export async function type(page, line) {
  const before = await page.locator('.entry').count()
  await page.locator('#command').focus()
  await page.keyboard.type(line)
  await page.keyboard.press('Escape')
  await page.locator('#command').focus()
  await page.keyboard.press('Enter')
  await page.locator('.entry').nth(before).waitFor()
}
