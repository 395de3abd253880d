// Makes the images for the README and for previews of links: the page's timeline after a few writes, a conflict and a compaction, in
// web/timeline.png, and the page's first screen, in web/public/card.png. With an argument it makes only that one.
import { launch, ready, type } from './browser.mjs'
import { serve } from './server.mjs'

const story = [
  'expire', 'create configmap brush', 'create configmap paint --from-literal color=red', 'informer lamp configmaps', 'tick 1m',
  `patch configmap paint -p '{"data":{"color":"blue"}}' --as alice`, `patch configmap paint --rv=4005 -p '{"data":{"color":"green"}}'`,
  'create pod worker --image i', 'delete configmap brush --as alice',
]

const [only] = process.argv.slice(2)
const host = await serve()
const browser = await launch()
const options = { deviceScaleFactor: 1, colorScheme: 'light', reducedMotion: 'reduce', serviceWorkers: 'block' }

async function take(size, file, shoot) {
  const context = await browser.newContext({ viewport: size, ...options })
  const page = await context.newPage()
  page.setDefaultTimeout(120_000)
  await page.goto(host.url)
  await ready(page)
  await shoot(page, new URL(file, import.meta.url).pathname)
  await context.close()
}

if (only !== 'card') {
  await take({ width: 1200, height: 900 }, '../timeline.png', async (page, path) => {
    for (const line of story) await type(page, line)
    await page.locator('.mark').nth(5).waitFor()
    await page.locator('section.timeline').screenshot({ path })
  })
}
await take({ width: 1200, height: 630 }, '../public/card.png', async (page, path) => {
  await page.locator('.mark').nth(20).waitFor()
  await page.screenshot({ path })
})
await browser.close()
await host.stop()
