// How the page looks and reads: nothing for axe to find, nothing too wide, in both colour schemes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import AxeBuilder from '@axe-core/playwright'
import { closeDialog, ready, type } from './browser.mjs'
import { hosted } from './hosted.mjs'

const it = hosted()

// Ten states of the page, each looked at by axe at two widths in two schemes.
const states = {
  'first screen': async () => {},
  'console': async page => {
    for (const line of ['create configmap owned --from-literal k=1', 'create configmap owned', 'list configmaps --limit 1', 'help']) await type(page, line)
  },
  'objects': async page => {
    await page.locator('#tab-objects').click()
    await page.locator('table button.row', { hasText: 'owned' }).click()
    await page.locator('.editor .cm-content').waitFor()
  },
  'owners': async page => {
    await page.locator('.forms button', { hasText: 'Owners' }).click()
    await page.locator('.bands .letter').first().waitFor()
  },
  'raw HTTP': async page => { await page.locator('#tab-http').click() },
  'actors': async page => { await page.locator('#tab-actors').click() },
  'the past, as text': async page => {
    await page.locator('#tab-log').click()
    await page.locator('body').press(',')
    await page.locator('.past').waitFor()
  },
  'a dialog': async page => {
    await page.locator('.bar nav button', { hasText: 'Share' }).click()
    await page.locator('dialog').waitFor()
  },
  'the list of lessons': async page => {
    await closeDialog(page)
    await page.locator('.bar nav button', { hasText: 'Lessons' }).click()
    await page.locator('dialog .lesson').first().waitFor()
  },
  'a lesson that was left': async page => {
    await page.locator('dialog .lesson').first().click()
    await page.locator('.guide .dots').waitFor()
    await page.locator('#tab-console').click()
    for (const line of ['create configmap paint --from-literal color=red', 'delete configmap paint']) await type(page, line)
    await page.locator('.astray.broken').waitFor()
  },
}

for (const colorScheme of ['light', 'dark']) {
  for (const viewport of [{ width: 1440, height: 900 }, { width: 390, height: 844 }]) {
    test(`axe finds nothing in ${Object.keys(states).length} states, ${colorScheme}, ${viewport.width} px`, async () => {
      const { context, page } = await it.open({ colorScheme, viewport })
      await ready(page)
      for (const [name, reach] of Object.entries(states)) {
        await reach(page)
        const { violations } = await new AxeBuilder({ page }).analyze()
        assert.deepEqual(violations.map(v => `${name}: ${v.id}: ${v.nodes[0]?.html.slice(0, 160)} ${v.nodes[0]?.failureSummary}`), [])
      }
      await context.close()
    })
  }
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
