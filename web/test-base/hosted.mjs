// The set-up of a test file for the built page (dist): one host and one browser for all its tests, and additional hosts for some.
import { after, before } from 'node:test'
import { launch, open } from './browser.mjs'
import { serve } from './server.mjs'

/** hosted starts host and browser before the tests of a file and stops them after. open loads the page, serve starts another host. */
export function hosted() {
  const others = []
  const it = {
    open: (options, address) => open(it.browser, address ?? it.host.url, options),
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
