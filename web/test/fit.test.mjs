// The page fits its window at every size: the last line, its answer and the timeline are in view. The running clock is visible.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freePlay, ready, says, takeLesson, type } from './browser.mjs'
import { hosted } from './hosted.mjs'

const it = hosted()

// inView fails if an element is not completely in the window.
async function inView(page, locator, what) {
  const { top, bottom } = await locator.evaluate(element => element.getBoundingClientRect())
  const height = await page.evaluate(() => innerHeight)
  assert.ok(top >= 0 && bottom <= height + 1, `${what} is at ${Math.round(top)} to ${Math.round(bottom)} of ${height} px`)
}

for (const [name, viewport] of [['a laptop', { width: 1280, height: 720 }], ['a desktop', { width: 1440, height: 900 }], ['a phone', { width: 390, height: 844 }]]) {
  test(`after ten lines of free play on ${name} the newest answer and the command line are in view`, async () => {
    const { context, page, faults } = await it.open({ viewport })
    await freePlay(page)
    await inView(page, page.locator('#command'), 'the command line of an empty world')
    const lines = ['kubectl get nodes', 'kubectl create deployment web --image=nginx --replicas=3', 'tick 10s', 'kubectl get deployments', 'kubectl get pods']
    for (const line of [...lines, ...lines.slice(2)]) await type(page, line)
    await says(page, /Running/)
    await inView(page, page.locator('.entry').last(), 'the answer')
    await inView(page, page.locator('#command'), 'the command line')
    const rows = await page.evaluate(() => new Set([...document.querySelectorAll('.bar nav > *')].map(part => Math.round(part.getBoundingClientRect().bottom / 16))).size)
    assert.equal(rows, 1, 'the parts of the bar are in one row')
    const cut = await page.evaluate(() => [...document.querySelectorAll('.tabs button')].filter(tab => tab.getBoundingClientRect().right > innerWidth - 8).map(tab => tab.textContent))
    const list = await page.locator('[role=tablist]').evaluate(tabs => tabs.scrollWidth - tabs.clientWidth)
    assert.deepEqual([cut, list], [[], 0], 'all tabs are in view')
    if (viewport.width > 900) {
      await inView(page, page.locator('.timeline'), 'the timeline')
      assert.equal(await page.evaluate(() => document.documentElement.scrollHeight <= innerHeight), true, 'the page scrolls')
      const before = await page.locator('.timeline').evaluate(timeline => timeline.offsetHeight)
      await page.locator('[role=separator]').focus()
      for (let i = 0; i < 3; i++) await page.keyboard.press('ArrowUp')
      await page.waitForFunction(height => document.querySelector('.timeline').offsetHeight < height, before)
    }
    assert.deepEqual(faults, [])
    await context.close()
  })
}

test('a wide table of kubectl has the whole width, and a selected frame or a line of the other language opens the inspector', async () => {
  const { context, page, faults } = await it.open({ viewport: { width: 1280, height: 720 } })
  await freePlay(page)
  for (const line of ['kubectl create deployment web --image=nginx --replicas=2', 'tick 10s', 'kubectl get pods -o wide']) await type(page, line)
  const cut = await page.locator('.entry pre').last().evaluate(output => output.scrollWidth - output.clientWidth)
  assert.equal(cut, 0, 'the table is cut off')
  const details = page.locator('.tabs .details')
  assert.equal(await details.getAttribute('aria-pressed'), 'false')
  await type(page, 'get configmap kube-root-ca.crt')
  await page.locator('.inspector .answered').waitFor()
  await type(page, 'kubectl get pods')
  await page.locator('.inspector').waitFor({ state: 'hidden' })
  await details.click()
  await page.locator('.inspector .answered').waitFor()
  await type(page, 'kubectl get nodes') // the user's choice stays
  await page.locator('.inspector .answered').waitFor()
  assert.deepEqual(faults, [])
  await context.close()
})

test('in a lesson on a phone the text of the next step, the answer and the command line are in view', async () => {
  const { context, page } = await it.open({ viewport: { width: 390, height: 844 } })
  await ready(page)
  await takeLesson(page, 'yaml')
  await page.locator('.guide .question .option').first().click()
  await page.locator('.guide .question button').click()
  await page.locator('.prose .line.main', { hasText: '-o yaml' }).click() // and not the line within the sentence before it
  await page.waitForFunction(() => document.querySelector('#command').value.endsWith('-o yaml')) // drawn in the next picture
  await page.locator('#command').press('Enter')
  await page.locator('.guide .eyebrow', { hasText: 'Step 2' }).waitFor()
  await inView(page, page.locator('.guide h2'), 'the title')
  await inView(page, page.locator('.transcript'), 'the transcript')
  await inView(page, page.locator('#command'), 'the command line')
  assert.ok(await page.locator('.transcript').evaluate(list => list.scrollTop + list.clientHeight >= list.scrollHeight - 2), 'the transcript is not at its end')
  await type(page, `kubectl annotate pod web note=${'long'.repeat(20)}`)
  const wider = await page.locator('.note.astray').evaluate(note => note.scrollWidth - note.clientWidth)
  assert.equal(wider, 0, 'a long line in a note of the guide is cut off')
  await context.close()
})

test('in an article\'s <iframe> of 480 px the answer has room for ten lines, and the timeline is in view', async () => {
  const { context, page } = await it.open({ viewport: { width: 700, height: 480 } }, `${it.host.url}?embed=create+configmap+a`)
  await page.locator('#command').press('Enter')
  await page.locator('.entry').waitFor()
  const height = await page.locator('.transcript').evaluate(transcript => transcript.clientHeight)
  assert.ok(height >= 160, `${height} px`)
  await inView(page, page.locator('.entry').last(), 'the answer')
  await inView(page, page.locator('.timeline'), 'the timeline')
  await inView(page, page.locator('.whole'), 'the link')
  await context.close()
})

test('in an <iframe> that is 480 px wide the lanes of the store and of the server are in view', async () => {
  const { context, page } = await it.open({ viewport: { width: 480, height: 480 } }, `${it.host.url}?embed=kubectl+create+deployment+web+--image=nginx`)
  await page.locator('#command').press('Enter')
  await type(page, 'tick 10s')
  const lane = await page.evaluate(() => document.querySelector('.lanes').getBoundingClientRect().bottom - document.querySelector('.labels li:nth-child(3)').getBoundingClientRect().bottom)
  assert.ok(lane >= 0, 'the lanes of the store and of the server are in view')
  await context.close()
})

test('an idle day takes at most a second; a long line shows its progress and can be stopped; an undo after busy hours is quick', async () => {
  const { context, page, faults } = await it.open()
  await freePlay(page)
  const begun = Date.now()
  await type(page, 'tick 24h')
  const took = Date.now() - begun
  assert.ok(took < 1000, `an idle day took ${took} ms`)
  await type(page, `kubectl create cronjob every --image=busybox --schedule='* * * * *' -- date`)
  await page.locator('#command').fill('tick 24h')
  await page.locator('#command').press('Enter')
  await page.locator('.foot time', { hasText: /2026-01-02 0\d:/ }).waitFor()
  await page.locator('.foot button', { hasText: 'Stop' }).click()
  await page.locator('.entry .bad', { hasText: 'stopped; the line had no effect' }).waitFor()
  await type(page, 'kubectl get cronjobs')
  await says(page, /every +\* \* \* \* \*.* 0s/)
  await type(page, 'tick 3h')
  await type(page, 'kubectl get cronjobs')
  const clicked = Date.now()
  await page.locator('button[aria-label^="Undo"]').click()
  await page.locator('button[aria-label^="Redo"]:not([aria-disabled="true"])').waitFor()
  assert.ok(Date.now() - clicked < 1000, `an undo after three busy hours took ${Date.now() - clicked} ms`)
  assert.deepEqual(faults, [])
  await context.close()
})
