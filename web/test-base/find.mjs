// Finds the system's browsers. Run as a program, it prints the path of Chromium, or exits with 1 if there is none.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome']
const places = ['/usr/bin/chromium', '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome', '/Applications/Chromium.app/Contents/MacOS/Chromium']

// found returns the path of the first of the named programs that exists, or undefined.
function found(names) {
  for (const name of names) {
    try {
      return execFileSync('/bin/sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim()
    } catch {
      // There is no program of this name.
    }
  }
}

/** findFirefox returns the path of Firefox, or null. FIREFOX names it directly. */
const findFirefox = () => process.env.FIREFOX ?? found(['firefox', 'firefox-esr']) ?? null

/** findWebKit returns the path of WebKit's driver, or null, also if Xvfb is missing. WEBKIT names it directly. */
const findWebKit = () => process.env.WEBKIT ?? (found(['Xvfb']) ? found(['WebKitWebDriver']) : null) ?? null

/** findBrowser returns the path of Chromium or Chrome, or null. CHROMIUM names it directly. */
export const findBrowser = () => process.env.CHROMIUM ?? found(names) ?? places.find(existsSync) ?? null

export const missing = `the browser tests need Chromium or Chrome, and none was found.
  Debian, Ubuntu:  apt-get install chromium
  macOS:           brew install --cask chromium
  elsewhere:       set CHROMIUM to the program's path`

/** browsers are the browsers that the tests support: how to find each, and the message if it is missing. */
export const browsers = {
  chromium: { find: findBrowser, missing },
  firefox: { find: findFirefox, missing: 'the browser tests in Firefox need Firefox: apt-get install firefox-esr, or set FIREFOX' },
  webkit: { find: findWebKit, missing: 'the browser tests in WebKit need its driver and a screen: apt-get install webkit2gtk-driver xvfb, or set WEBKIT' },
}

/** tested returns the browser under test: the one that BROWSERS names, or Chromium. */
export function tested() {
  const name = process.env.BROWSERS || 'chromium'
  if (!browsers[name]) throw new Error(`BROWSERS=${name}: there are ${Object.keys(browsers).join(', ')}`)
  return name
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  console.log(findBrowser() ?? missing)
  process.exit(findBrowser() ? 0 : 1)
}
