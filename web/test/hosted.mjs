// A file of tests that look at the built page (dist): one host and one browser for all of them.
import { after, before } from 'node:test'
import { launch, open } from './browser.mjs'
import { serve } from './server.mjs'

/** hosted starts both before the tests of a file and stops them after; its open loads the page. */
export function hosted() {
  const it = { open: (options, address) => open(it.browser, address ?? it.host.url, options) }
  before(async () => {
    it.host = await serve()
    it.browser = await launch()
  })
  after(async () => {
    await it.browser?.close()
    await it.host?.stop()
  })
  return it
}
