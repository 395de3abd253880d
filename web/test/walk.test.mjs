// The first minutes of a newcomer: typing before reading, other commands than those of a lesson, an article's <iframe>. Nothing that the
// page says is wrong, and no state is a dead end.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freePlay, ready, says, takeLesson, type } from './browser.mjs'
import { hosted } from './hosted.mjs'

const it = hosted()

test('in a world without nodes the page says why no pod runs, and leads to a cluster with nodes', async () => {
  const { context, page, faults } = await it.open()
  await ready(page)
  await type(page, 'kubectl run web --image=nginx')
  await type(page, 'kubectl get pods')
  await says(page, /web +0\/1 +Pending/)
  await page.locator('.foot', { hasText: 'This world has no nodes' }).locator('button').click()
  await page.locator('.foot', { hasText: 'no nodes' }).waitFor({ state: 'detached' })
  await type(page, 'kubectl get nodes')
  await says(page, /node-3 +Ready/)
  assert.equal(await page.locator('.foot', { hasText: 'no nodes' }).count(), 0)
  assert.deepEqual(faults, [])
  await context.close()
})

test('a line of kubectl in an <iframe> runs in a cluster with nodes', async () => {
  const { context, page } = await it.open({ viewport: { width: 700, height: 480 } }, `${it.host.url}?embed=kubectl+run+web+--image%3Dnginx`)
  await page.locator('.controls button[aria-label="Newest frame"]').waitFor()
  await page.locator('.prompt .primary:not([aria-disabled="true"])').waitFor()
  await page.locator('#command').press('Enter')
  await says(page, 'pod/web created')
  await type(page, 'tick 5s')
  await type(page, 'kubectl get pods')
  await says(page, /web +1\/1 +Running/)
  await context.close()
})

test('a lesson that can still be finished is not called broken, and only the effects of the line itself are listed', async () => {
  const { context, page, faults } = await it.open()
  await ready(page)
  await takeLesson(page, 'heal')
  await type(page, 'kubectl create deployment web --image=nginx')
  const astray = page.locator('.astray')
  await astray.filter({ hasText: 'created deployments.apps default/web' }).waitFor()
  assert.doesNotMatch(await astray.innerText(), /replicasets|events|pods/)
  for (const step of ['Step 2', 'Step 3']) {
    await page.locator('.hints button', { hasText: 'Show me' }).click()
    await page.locator('.guide .eyebrow', { hasText: step }).waitFor()
  }
  await type(page, 'kubectl scale deployment shop --replicas=4')
  await astray.filter({ hasText: 'Assumed by the text of step 3: deployments/shop .spec.replicas == 2' }).waitFor()
  assert.equal(await page.locator('.astray.broken').count(), 0)
  await type(page, 'kubectl scale deployment shop --replicas=3')
  await page.locator('.guide .done').waitFor()
  assert.deepEqual(faults, [])
  await context.close()
})

test('the lines of kubectl get -w keep their columns under other lines', async () => {
  const { context, page } = await it.open()
  await freePlay(page)
  await type(page, 'kubectl run web --image=nginx')
  await type(page, 'kubectl get pods -w')
  await type(page, 'tick 5s')
  const line = page.locator('.entry').last().locator('.said', { hasText: 'Running' })
  assert.match(await line.evaluate(shown => shown.innerText), /web +1\/1 +Running {3}/) // innerText contains the spaces that are drawn
  const left = locator => locator.evaluate(shown => Math.round(shown.getBoundingClientRect().left))
  assert.equal(await left(line.locator('.mono')), await left(page.locator('.entry pre', { hasText: 'NAME' })), 'it begins where its table begins')
  assert.ok(await line.evaluate(shown => shown.offsetHeight) < 30, 'it is one line')
  await context.close()
})

test('on a phone the lines of other users in a lesson are not cut off', async () => {
  const { context, page } = await it.open({ viewport: { width: 390, height: 844 } })
  await ready(page)
  await takeLesson(page, 'edit')
  await page.locator('.hints button', { hasText: 'Show me' }).click()
  await page.locator('.guide .eyebrow', { hasText: 'Step 2' }).waitFor()
  const other = page.locator('.guide .note pre', { hasText: 'kubectl patch configmap app' })
  assert.equal(await other.evaluate(lines => lines.scrollWidth - lines.clientWidth), 0)
  await context.close()
})

test('unknown words are answered in one short line', async () => {
  const { context, page } = await it.open()
  await freePlay(page)
  for (const [line, answer] of [['GET /api/v1/pods', 'did you mean request GET?'], ['docker ps', 'there are kubectl, curl, get, list, watch, page, …']]) {
    await type(page, line)
    await says(page, answer)
  }
  await context.close()
})

test('the bar keeps its height when the engine has arrived', async () => {
  const host = await it.serve({ line: { bytesPerSecond: 20e6 / 8, latency: 20 } })
  const { context, page } = await it.open({ viewport: { width: 1280, height: 720 } }, host.url)
  await page.locator('.bar progress').waitFor()
  const height = () => page.locator('.bar').evaluate(bar => bar.offsetHeight)
  const before = await height()
  await ready(page)
  assert.equal(await height(), before)
  await context.close()
})

test('a Service of type LoadBalancer gets an address in free play', async () => {
  const { context, page } = await it.open()
  await freePlay(page)
  await type(page, 'kubectl create service loadbalancer web --tcp=80')
  await type(page, 'tick 2s')
  await type(page, 'kubectl get service web')
  await says(page, /web +LoadBalancer +[\d.]+ +198\.18\./)
  await context.close()
})
