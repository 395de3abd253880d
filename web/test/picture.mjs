// The picture of the README: the timeline of the page after a few writes, a conflict and an expired history. It goes to
// web/timeline.png.
import { launch, ready, type } from './browser.mjs'
import { serve } from './server.mjs'

const story = [
  'expire', 'create configmap brush', 'create configmap paint --from-literal color=red', 'informer lamp configmaps', 'tick 1m',
  `patch configmap paint -p '{"data":{"color":"blue"}}' --as alice`, `patch configmap paint --rv=4005 -p '{"data":{"color":"green"}}'`,
  'create pod worker --image i', 'delete configmap brush --as alice',
]

const host = await serve()
const browser = await launch()
const context = await browser.newContext({
  viewport: { width: 1200, height: 900 }, deviceScaleFactor: 1, colorScheme: 'light', reducedMotion: 'reduce', serviceWorkers: 'block',
})
const page = await context.newPage()
await page.goto(host.url)
await ready(page)
for (const line of story) await type(page, line)
await page.locator('.mark').nth(5).waitFor()
await page.locator('section.timeline').screenshot({ path: new URL('../timeline.png', import.meta.url).pathname })
await browser.close()
await host.stop()
