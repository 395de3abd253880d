// Draws public/card.png, the image in other sites' previews of a link to the page: the opening screen, at 1200 × 630. It needs dist and
// Chromium: make web-dist, then node scripts/card.mjs. Look at the image before you commit it.
import { launch, ready } from '../test/browser.mjs'
import { serve } from '../test/server.mjs'

const host = await serve()
const browser = await launch()
const context = await browser.newContext({ viewport: { width: 1200, height: 630 }, colorScheme: 'light', reducedMotion: 'reduce', serviceWorkers: 'block' })
const page = await context.newPage()
await page.goto(host.url)
await ready(page)
await page.locator('.answered').first().waitFor()
await page.screenshot({ path: new URL('../public/card.png', import.meta.url).pathname })
await browser.close()
await host.stop()
