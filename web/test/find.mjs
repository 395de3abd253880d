// Finds the system's browser. On its own it prints the path, and exits with 1 when there is none.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome']
const places = ['/usr/bin/chromium', '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome', '/Applications/Chromium.app/Contents/MacOS/Chromium']

// found is the path of the first program of some names, or undefined.
function found(names) {
  for (const name of names) {
    try {
      return execFileSync('/bin/sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim()
    } catch {
      // Not under this name.
    }
  }
}

/** findFirefox returns the path of Firefox, or null. FIREFOX names it directly. */
export function findFirefox() {
  return process.env.FIREFOX ?? found(['firefox', 'firefox-esr']) ?? null
}

/** findWebKit returns the path of WebKit's driver, or null, also where there is no screen for it. WEBKIT names it directly. */
export function findWebKit() {
  return process.env.WEBKIT ?? (found(['Xvfb']) ? found(['WebKitWebDriver']) : null) ?? null
}

/** findBrowser returns the path of a browser, or null. CHROMIUM names one directly. */
export function findBrowser() {
  if (process.env.CHROMIUM) return process.env.CHROMIUM
  return found(names) ?? places.find(existsSync) ?? null
}

export const missing = `the browser tests need Chromium or Chrome, and none was found.
  Debian, Ubuntu:  apt-get install chromium
  macOS:           brew install --cask chromium
  elsewhere:       set CHROMIUM to the program's path`

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  console.log(findBrowser() ?? missing)
  process.exit(findBrowser() ? 0 : 1)
}
