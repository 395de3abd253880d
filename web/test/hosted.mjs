// The set-up of the test files for the built page (dist): one host and one browser for all tests of a process, and additional hosts for some.
import { after, before } from 'node:test'
import { launch, open } from './browser.mjs'
import { tested } from './find.mjs'
import { serve } from './server.mjs'

const forget = () => {
  localStorage.clear()
  sessionStorage.clear()
}

const usual = { width: 1280, height: 720 }

const emulated = tested() === 'chromium' // whether a page can prefer motion and later prefer reduced motion

// leave ends the page's document and its Workers, and clears its storage.
async function leave(opened) {
  await opened.page.goto(new URL('/favicon.svg', await opened.page.evaluate(() => location.href)).href)
  await opened.page.evaluate(forget)
  return opened
}

// shared belongs to all files of a process (together.mjs): the host, the browser, and the pages that tests have closed.
const shared = { files: 0, closed: [] }

async function start() {
  shared.host ??= await serve()
  shared.browser ??= await launch()
}

async function stop() {
  if (--shared.files > 0) return
  await shared.browser?.close()
  await shared.host?.stop()
  Object.assign(shared, { host: undefined, browser: undefined, closed: [] })
}

/** hosted starts host and browser before the tests of a file and stops them after the last file. open loads the page, serve starts another
 * host. open uses a page that an earlier test has closed, unless an option or another host needs a new context: the browser then has the
 * compiled engine already, which saves it 1.5 s of CPU. The page has no storage and no faults of that test. A page of another host is
 * not used again, because the browser may still request its icon when that host has ended. A failed test does not close its page. */
export function hosted() {
  shared.files++
  const others = []
  const it = {
    get host() { return shared.host },
    get browser() { return shared.browser },
    async open({ viewport = usual, reducedMotion = 'reduce', ...options } = {}, address = shared.host.url) {
      const again = Object.keys(options).length === 0 && (emulated || reducedMotion === 'reduce') && address.startsWith(shared.host.url)
      if (!again || shared.closed.length === 0) {
        const opened = await open(shared.browser, address, { viewport, reducedMotion, ...options })
        if (again) opened.context.close = async () => shared.closed.push(await leave(opened))
        return opened
      }
      const opened = shared.closed.pop()
      await opened.page.setViewportSize(viewport)
      await opened.page.emulateMedia({ colorScheme: 'light', reducedMotion })
      opened.faults.length = 0
      await opened.page.goto(address)
      return opened
    },
    async serve(options) {
      others.push(await serve(options))
      return others.at(-1)
    },
  }
  before(start)
  after(async () => {
    for (const host of others) await host.stop()
    await stop()
  })
  return it
}
