// The loading time of the page over a line of 20 Mbit/s with a latency of 20 ms. The best of several visits counts, because other processes
// disturb the measurement. The visits end as soon as the best is within the limits, because another visit cannot change that.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { launch, ready } from './browser.mjs'
import { contention } from './contention.mjs'
import { serve } from './server.mjs'

const limits = { paint: 300, usable: 300, answer: 2000 } // ms after the navigation began
const visits = 8

test('painted and usable within 0.3 s, the engine answers within 2 s, at 20 Mbit/s', async () => {
  const host = await serve({ line: { bytesPerSecond: 20e6 / 8, latency: 20 } })
  const browser = await launch()
  const best = { paint: Infinity, usable: Infinity, received: Infinity, compiled: Infinity, answer: Infinity }
  let slower = 1
  const limit = name => Math.round(limits[name] * slower)
  for (let i = 0; i < visits; i++) {
    slower = Math.max(slower, contention())
    const context = await browser.newContext({ serviceWorkers: 'block' })
    const page = await context.newPage()
    await page.goto(host.url)
    await ready(page)
    await page.waitForFunction(() => performance.getEntriesByName('answer').length > 0) // the page is ready some messages before
    const seen = await page.evaluate(() => {
      const at = name => performance.getEntriesByName(name)[0]?.startTime
      return { paint: at('first-contentful-paint'), usable: at('usable'), received: at('received'), compiled: at('compiled'), answer: at('answer') }
    })
    for (const name of Object.keys(best)) best[name] = Math.min(best[name], seen[name] ?? Infinity)
    await context.close()
    if (Object.keys(limits).every(name => best[name] <= limit(name))) break
  }
  await browser.close()
  await host.stop()
  console.log(Object.entries(best).map(([name, ms]) => `${name} ${Math.round(ms)} ms${limits[name] ? ` of ${limit(name)}` : ''}`).join(', '),
    `on a machine ${slower.toFixed(1)} times busy`)
  for (const name of Object.keys(limits)) assert.ok(best[name] <= limit(name), `${name}: ${Math.round(best[name])} ms`)
})
