// The set-up of a test file for the built page (dist): one host and one browser for all its tests, and additional hosts for some.
import { after, before } from 'node:test'
import { launch, open } from './browser.mjs'
import { serve } from './server.mjs'

const forget = () => {
  localStorage.clear()
  sessionStorage.clear()
}

/** hosted starts host and browser before the tests of a file and stops them after. open loads the page, serve starts another host.
 * Without options, open loads the page where an earlier test has closed it: the browser then has the compiled engine already. The
 * page has no storage and no faults of that test. A failed test does not close its page, so the next one gets a new page. */
export function hosted() {
  const others = []
  let kept = null
  const it = {
    async open(options = {}, address = it.host.url) {
      if (Object.keys(options).length > 0) return open(it.browser, address, options)
      if (kept) {
        const again = kept
        kept = null
        await again.page.goto(`${new URL(address).origin}/favicon.svg`)
        await again.page.evaluate(forget)
        again.faults.length = 0
        await again.page.goto(address)
        return again
      }
      const opened = await open(it.browser, address, options)
      const close = opened.context.close.bind(opened.context)
      opened.context.close = async () => {
        if (kept) await close()
        else kept = opened
      }
      return opened
    },
    async serve(options) {
      others.push(await serve(options))
      return others.at(-1)
    },
  }
  before(async () => {
    it.host = await serve()
    it.browser = await launch()
  })
  after(async () => {
    await it.browser?.close()
    for (const host of [it.host, ...others]) await host?.stop()
  })
  return it
}
