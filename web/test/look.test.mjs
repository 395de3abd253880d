// How the page looks and reads: nothing for axe to find, nothing too wide, in both colour schemes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import AxeBuilder from '@axe-core/playwright'
import { ready, type } from './browser.mjs'
import { hosted } from './hosted.mjs'

const it = hosted()

for (const colorScheme of ['light', 'dark']) {
  test(`axe finds nothing, ${colorScheme}`, async () => {
    const { context, page } = await it.open({ colorScheme })
    await ready(page)
    const clean = async where => {
      const { violations } = await new AxeBuilder({ page }).analyze()
      assert.deepEqual(violations.map(v => `${where}: ${v.id}: ${v.nodes[0]?.html.slice(0, 160)} ${v.nodes[0]?.failureSummary}`), [])
    }
    await clean('first screen')
    for (const line of ['create configmap a', 'create configmap a', 'list configmaps --limit 1', 'help']) await type(page, line)
    await clean('console')
    for (const tab of ['objects', 'http', 'actors', 'log']) {
      await page.locator(`#tab-${tab}`).click()
      if (tab === 'objects') await page.locator('.editor .cm-content').waitFor()
      await clean(tab)
    }
    await page.locator('body').press(',')
    for (const [key, what] of [['?', 'keys'], ['s', 'situations']]) {
      await page.locator('body').press(key)
      await page.locator('dialog').waitFor()
      await clean(what)
      await page.keyboard.press('Escape')
      await page.locator('dialog').waitFor({ state: 'detached' })
    }
    for (const name of ['Lessons', 'Share']) {
      await page.locator('.bar nav button', { hasText: name }).click()
      await clean(name)
      await page.keyboard.press('Escape')
      await page.locator('dialog').waitFor({ state: 'detached' })
    }
    await context.close()
  })
}

test('nothing is wider than a screen of 320 px, nor than one at 200 % zoom', async () => {
  for (const viewport of [{ width: 320, height: 640 }, { width: 720, height: 450 }]) {
    const { context, page } = await it.open({ viewport })
    await ready(page)
    await type(page, 'create configmap narrow')
    for (const tab of ['console', 'objects', 'http', 'actors', 'log']) {
      await page.locator(`#tab-${tab}`).click()
      const width = await page.evaluate(() => document.documentElement.scrollWidth)
      assert.ok(width <= viewport.width, `${tab} is ${width} px wide at ${viewport.width}`)
    }
    await context.close()
  }
})
