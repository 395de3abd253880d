// A file of tests that look at the built page (dist): one host and one browser for all of them, and hosts that serve it otherwise.
import { after, before } from 'node:test'
import { launch, open } from './browser.mjs'
import { serve } from './server.mjs'

/** hosted starts both before the tests of a file and stops them after; its open loads the page, its serve starts one more host. */
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
