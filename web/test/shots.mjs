// Screenshots for visual review: the first screen, a lesson in progress, and each tab, at 1440 and 390 px, light and dark. They are written
// to web/shots.
import { mkdirSync } from 'node:fs'
import { launch, ready, takeLesson, type } from './browser.mjs'
import { serve } from './server.mjs'

const folder = new URL('../shots/', import.meta.url).pathname
mkdirSync(folder, { recursive: true })

const host = await serve()
const browser = await launch()

async function visit(width, colorScheme, forcedColors = 'none') {
  const context = await browser.newContext({
    viewport: { width, height: width > 500 ? 900 : 844 }, colorScheme, forcedColors, reducedMotion: 'reduce', serviceWorkers: 'block',
  })
  const page = await context.newPage()
  await page.goto(host.url)
  await ready(page)
  await page.locator('.mark').first().waitFor()
  const shot = async name => {
    await page.locator('.answered, .entry, .cards, .bands, .textlog').filter({ visible: true }).first().waitFor()
    await page.screenshot({ path: `${folder}${name}-${width}-${forcedColors === 'none' ? colorScheme : 'forced'}.png`, fullPage: width < 500 })
  }
  return { page, shot, close: () => context.close() }
}

const story = [
  'create configmap paint --from-literal color=red', 'informer cache configmaps', 'list configmaps --limit 1 --as reader',
  `patch configmap paint -p '{"data":{"color":"blue"}}' --as alice`, 'tick 1m', 'watch configmaps --name old --as carol', 'stop old',
  'create configmap brush', 'expire', 'create configmap easel', `patch configmap paint --rv=4005 -p '{"data":{"color":"green"}}'`,
  `patch configmap paint --type apply -p '{"apiVersion":"v1","kind":"ConfigMap","data":{"size":"3"}}' --field-manager bob`,
]

for (const [width, scheme, forced] of [[1440, 'light'], [1440, 'dark'], [390, 'light'], [390, 'dark'], [1440, 'dark', 'active']]) {
  const { page, shot, close } = await visit(width, scheme, forced)
  await shot('1-first')
  await takeLesson(page, 'first')
  await type(page, story[0])
  await page.locator('.question').waitFor()
  await shot('2-lesson')
  for (const line of story.slice(1)) await type(page, line)
  await shot('3-story')
  await page.locator('#tab-objects').click()
  await page.locator('table button.row', { hasText: 'paint' }).click()
  await page.locator('.forms button', { hasText: 'Owners' }).click()
  await page.locator('.bands .letter').first().waitFor()
  await shot('4-owners')
  await page.locator('#tab-actors').click()
  await shot('5-actors')
  await close()
}
await browser.close()
await host.stop()
console.log(`screenshots are in ${folder}`)
