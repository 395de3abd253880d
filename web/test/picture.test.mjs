// The details of the timeline: the name of a commit's object, one colour for each object, the version of a server, cards of marks; and the
// situations.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freePlay, onlyChromium, ready, type } from './browser.mjs'
import { hosted } from './hosted.mjs'

const it = hosted()

test('a commit has the name of its object, and commit and event one colour; a server has its version', async () => {
  const { context, page, faults } = await it.open()
  await ready(page)
  await type(page, 'watch configmaps --name w')
  for (const name of ['paint', 'brush']) await type(page, `create configmap ${name}`)
  await page.locator('.named', { hasText: 'brush' }).waitFor()
  const hue = (kind, name) => page.locator(`.mark[data-kind="${kind}"][aria-label*="default/${name}"], .mark[data-kind="${kind}"][aria-label*="configmaps/${name} "]`).last()
    .evaluate(mark => /object\d/.exec(mark.getAttribute('class'))?.[0])
  assert.equal(await hue('store.commit', 'paint'), await hue('watch.event', 'paint'))
  assert.notEqual(await hue('store.commit', 'paint'), await hue('store.commit', 'brush'))
  await page.locator('.labels li', { hasText: 'server 1' }).filter({ hasText: 'v1.36' }).waitFor()
  assert.deepEqual(faults, [])
  await context.close()
})

test('the situations are listed in free play: a lost answer, and a stale read before a write', async () => {
  const { context, page, faults } = await it.open()
  await freePlay(page)
  await page.locator('.guide .lesson', { hasText: 'Lost answer' }).click()
  await page.locator('.entry', { hasText: '2 items' }).waitFor()
  await page.locator('.entry .bad', { hasText: '504' }).first().waitFor()
  await page.locator('.guide .lesson', { hasText: 'Stale read' }).click()
  await page.locator('.entry .bad', { hasText: '409' }).first().waitFor()
  await page.locator('.labels li', { hasText: 'server 2' }).waitFor()
  await type(page, 'kubectl get nodes') // the cluster is still there
  await page.locator('.entry', { hasText: 'node-3' }).waitFor()
  assert.deepEqual(faults, [])
  await context.close()
})

test('the card of a commit lists the changed fields and reports a lost update', async () => {
  const { context, page, faults } = await it.open()
  await freePlay(page)
  await type(page, 'create configmap paint --from-literal color=red --as alice')
  await type(page, 'get configmap paint --as bob')
  await type(page, `patch configmap paint -p '{"data":{"color":"blue"}}' --as alice`)
  const commit = () => page.locator('.mark[data-kind="store.commit"][aria-label*="configmaps default/paint"]').last()
  await commit().click()
  await page.locator('.changed', { hasText: /data\.color: red → blue/ }).waitFor()
  assert.equal(await page.locator('.lost').count(), 0)
  await type(page, `patch configmap paint -p '{"data":{"color":"green"}}' --as bob`)
  await commit().click()
  await page.locator('.changed', { hasText: /data\.color: blue → green/ }).waitFor()
  await page.locator('.lost', { hasText: 'Lost update. alice had set data.color to blue' }).waitFor()
  assert.deepEqual(faults, [])
  await context.close()
})

test('the card of a 409 has the revision that the write was based on, and a selected mark is connected with its cause and effects only', async () => {
  const { context, page, faults } = await it.open()
  await ready(page)
  await type(page, 'watch configmaps --name w')
  await type(page, 'create configmap paint --from-literal color=red')
  await type(page, 'get configmap paint')
  await type(page, `patch configmap paint -p '{"data":{"color":"blue"}}' --as alice`)
  assert.ok(await page.locator('.causes path').count() >= 1)
  await type(page, `patch configmap paint --rv=4005 -p '{"data":{"color":"green"}}'`)
  await page.locator('.mark[data-kind="http.res"][aria-label*="409"]').last().click()
  await page.locator('.based', { hasText: /Based on revision 4005\. The object was at revision \d+\./ }).waitFor()
  await page.locator('.mark[data-kind="http.req"][aria-label*="configmaps/paint"]').last().click()
  await page.mouse.move(0, 0)
  await page.waitForFunction(() => document.querySelectorAll('.causes path').length <= 2)
  assert.deepEqual(faults, [])
  await context.close()
})

test('the list of keys has a legend of the marks', async () => {
  const { context, page, faults } = await it.open()
  await ready(page)
  await page.keyboard.press('?')
  await page.locator('dialog .legend li', { hasText: 'bookmark' }).waitFor()
  assert.equal(await page.locator('dialog .legend .shape, dialog .legend .plate').count() >= 10, true)
  assert.deepEqual(faults, [])
  await context.close()
})

test('a mark shows its card when it is hovered, focused or touched', async () => {
  const { context, page, faults } = await it.open()
  await ready(page)
  await type(page, 'create configmap paint --from-literal color=red --as alice')
  await type(page, `patch configmap paint -p '{"data":{"color":"blue"}}' --as alice`)
  const mark = (kind, about) => page.locator(`.mark[data-kind="${kind}"][aria-label*="${about}"]`).last()
  const over = async one => {
    const { x, y } = await one.evaluate(mark => {
      const { left, top, width, height } = mark.getBoundingClientRect()
      return { x: left + width / 2, y: top + height / 2 }
    })
    await page.mouse.move(x, y)
  }
  await mark('http.res', '200 OK configmaps/paint').waitFor()
  await over(mark('store.commit', 'MODIFIED configmaps default/paint'))
  await page.locator('.card', { hasText: 'by alice' }).filter({ hasText: 'data.color: red → blue' }).waitFor()
  await over(mark('http.res', '200 OK configmaps/paint'))
  await page.locator('.card', { hasText: 'answered by server 1 v1.36' }).waitFor()
  await page.keyboard.press('Escape')
  await page.locator('.card').waitFor({ state: 'detached' })
  await mark('http.req', 'PATCH').focus()
  await page.locator('.card', { hasText: 'sent to server 1 v1.36' }).waitFor()
  const inside = await page.locator('.card').evaluate(card => {
    const { left, top, right, bottom } = card.getBoundingClientRect()
    return left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight
  })
  assert.ok(inside)
  assert.deepEqual(faults, [])
  await context.close()
})

test('touching a mark opens its card, and touching elsewhere closes it', { skip: onlyChromium('fingers are simulated by playwright in Chromium only') }, async () => {
  const { context, page, faults } = await it.open({ hasTouch: true, viewport: { width: 390, height: 844 } })
  await ready(page)
  await type(page, 'create configmap paint --from-literal color=red --as alice')
  await page.locator('.mark[data-kind="store.commit"]').last().tap()
  await page.locator('.card', { hasText: 'by alice' }).waitFor()
  await page.locator('.labels .axis').tap({ position: { x: 4, y: 24 } })
  await page.locator('.card').waitFor({ state: 'detached' })
  assert.deepEqual(faults, [])
  await context.close()
})

test('a commit that removes a value which its writer has not read is marked as a lost update, and an undo removes the mark', async () => {
  const { context, page, faults } = await it.open()
  await freePlay(page)
  await type(page, 'create configmap paint --from-literal color=red --as alice')
  await type(page, `patch configmap paint -p '{"data":{"color":"blue"}}' --as alice`)
  await type(page, `patch configmap paint -p '{"data":{"size":"4"}}' --as bob`) // removes nothing
  await type(page, `patch configmap paint -p '{"data":{"size":"5"}}' --as alice`)
  await page.locator('.mark.lost').waitFor()
  await page.locator('.named.bad', { hasText: 'lost update' }).waitFor()
  assert.equal(await page.locator('.mark.lost').count(), 1)
  await page.locator('button[aria-label^="Undo"]').click()
  await page.waitForFunction(() => document.querySelectorAll('.mark.lost').length === 0)
  assert.deepEqual(faults, [])
  await context.close()
})

test('the names of neighbouring commits do not overlap, and a lane\'s name that does not fit ends visibly', async () => {
  const { context, page } = await it.open({ viewport: { width: 1280, height: 720 } })
  await freePlay(page)
  for (let i = 0; i < 12; i++) await type(page, `create configmap a-long-name-${i}`)
  await type(page, 'informer capi deployments.apps')
  await page.locator('.named').nth(5).waitFor()
  const overlaps = await page.evaluate(() => {
    const boxes = [...document.querySelectorAll('.named')].map(name => name.getBoundingClientRect()).sort((a, b) => a.left - b.left)
    return boxes.slice(1).filter((box, i) => box.left < boxes[i].right - 1).length
  })
  assert.equal(overlaps, 0)
  const cut = await page.evaluate(() => [...document.querySelectorAll('.labels .name')].filter(name => name.scrollWidth > name.clientWidth + 1).map(name => name.textContent))
  assert.deepEqual(cut, [])
  await context.close()
})

test('an operation with many effects is connected only with the nearest ones', async () => {
  const { context, page } = await it.open()
  await freePlay(page)
  await type(page, 'kubectl create deployment web --image=nginx --replicas=3')
  await page.locator('.causes path').first().waitFor()
  assert.ok(await page.locator('.causes path').count() <= 16, 'more lines than the eye can follow')
  assert.ok(await page.locator('.marks .mark').count() > 16)
  await context.close()
})
