// Accessibility and layout: axe finds nothing, and nothing is too wide, in both colour schemes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lookAt, wide } from './axe.mjs'
import { closeDialog, ready, type } from './browser.mjs'
import { hosted } from './hosted.mjs'

const it = hosted()

// states are states of the page, each reached from the one before.
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
  'one server beside itself': async page => {
    await page.locator('.forms button', { hasText: 'Servers' }).click()
    await page.locator('.detail .hint', { hasText: 'There is one server' }).waitFor()
  },
  'raw HTTP': async page => { await page.locator('#tab-http').click() },
  'actors': async page => { await page.locator('#tab-actors').click() },
  'the past, as text': async page => {
    await page.locator('#tab-log').click()
    await page.locator('body').press(',')
    await page.locator('.past').waitFor()
  },
  'words of a lane': async page => {
    await page.locator('.past button', { hasText: 'Newest' }).click()
    await page.locator('.labels button', { hasText: 'server 1' }).click()
    await page.locator('.words button').first().waitFor()
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
  'the level builder': async page => {
    await page.locator('dialog button', { hasText: 'Write a lesson' }).click()
    await page.locator('.verdict', { hasText: 'It can be solved' }).waitFor()
  },
  'a lesson that was left': async page => {
    await closeDialog(page)
    await page.locator('.bar nav button', { hasText: 'Lessons' }).click()
    await page.locator('dialog .lesson[data-lesson="first"]').click()
    await page.locator('.guide .dots').waitFor()
    await page.locator('#tab-console').click()
    for (const line of ['create configmap paint --from-literal color=red', 'delete configmap paint']) await type(page, line)
    await page.locator('.astray.broken').waitFor()
  },
  'controllers at work, step by step': async page => {
    await page.locator('.bar nav button', { hasText: 'Lessons' }).click()
    await page.locator('dialog button', { hasText: 'Free play' }).click()
    await page.locator('.guide h2', { hasText: 'Free play' }).waitFor()
    for (const line of ['stepped yes', 'apply -f deployment.yaml', 'step deployment-controller', 'stop replicaset-controller']) await type(page, line)
    await page.locator('#tab-actors').click()
    await page.locator('.plane .cards .bad').waitFor()
  },
  'a compacted history': async page => {
    await page.locator('#tab-console').click()
    await type(page, 'compact')
    await page.locator('.compacted').waitFor()
  },
  'Chinese': async page => {
    await page.locator('#language').selectOption('zh-CN')
    await page.locator('.guide h2', { hasText: '自由练习' }).waitFor()
    await page.locator('#tab-actors').click()
    await page.locator('.plane .cards .bad', { hasText: '已停止' }).waitFor()
  },
}

test(`axe finds nothing in ${Object.keys(states).length} states, at two widths in two schemes`, async () => {
  const { context, page } = await it.open({ viewport: wide })
  await ready(page)
  for (const [name, reach] of Object.entries(states)) {
    await reach(page)
    await lookAt(page, name)
  }
  await context.close()
})

test('nothing is wider than a window of 320 px, or one at 200 % zoom', async () => {
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

test('axe finds nothing in an article\'s frame, nor with two servers side by side', async () => {
  const article = await it.open({}, `${it.host.url}?embed=create+configmap+a`)
  await article.page.locator('#command').press('Enter')
  await article.page.locator('.entry').waitFor()
  await lookAt(article.page, 'an article', { width: 700, height: 480 })
  await article.context.close()
  const { context, page } = await it.open({ viewport: wide })
  await ready(page)
  await page.locator('body').press('s')
  await page.locator('dialog').waitFor()
  await page.keyboard.press('l')
  await page.locator('.labels li', { hasText: 'server 2' }).waitFor()
  await page.locator('#tab-objects').click()
  await page.locator('table button.row', { hasText: 'fresh' }).click()
  await page.locator('.forms button', { hasText: 'Servers' }).click()
  await page.locator('.skew table').waitFor()
  await lookAt(page, 'two servers')
  await context.close()
})
