// The page of kubesim serve --web shows the served cluster, live.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, test } from 'node:test'
import { lookAt } from './axe.mjs'
import { launch, open, ready, says, type } from './browser.mjs'

const root = new URL('../../', import.meta.url).pathname
const go = process.env.GO ?? 'go'

const folder = mkdtempSync(join(tmpdir(), 'kubesim-'))
const program = join(folder, 'kubesim')
before(() => execFileSync(go, ['build', '-o', program, './fake/cmd/kubesim'], { cwd: root, stdio: 'inherit' }))
after(() => rmSync(folder, { recursive: true, force: true }))

// serving starts kubesim serve and returns the addresses of the API and the page.
async function serving(...flags) {
  const child = spawn(program, ['serve', ...flags, '--web', join(root, 'web/dist')], { stdio: ['ignore', 'pipe', 'ignore'] })
  const at = {}
  for await (const line of createInterface(child.stdout)) {
    const [what, url] = line.split(' ')
    at[what] = url
    if (what === 'page') break
  }
  return { ...at, stop: () => new Promise(resolve => { child.once('exit', resolve).kill() }) }
}

test('kubesim serve --web shows what happens in the served cluster as it happens', { timeout: 300_000 }, async () => {
  const server = await serving('--nodes', '2')
  const browser = await launch()
  try {
    const { page, faults } = await open(browser, server.page)
    await page.locator('.engine', { hasText: 'v1.36' }).waitFor()
    await page.locator('.guide h2', { hasText: 'The served cluster' }).waitFor()
    const post = name => fetch(`${server.serving}/api/v1/namespaces/default/configmaps`, {
      method: 'POST', headers: { 'content-type': 'application/json', 'user-agent': 'outsider/v1' }, body: JSON.stringify({ metadata: { name } }),
    })
    assert.equal((await post('outside')).status, 201)
    await page.locator('.labels li', { hasText: 'outsider' }).waitFor()
    await page.locator('.mark[aria-label*="default/outside"]').first().waitFor()
    await page.locator('#tab-objects').click()
    await page.locator('table button.row', { hasText: 'outside' }).click()
    await page.locator('.editor .cm-content', { hasText: 'name: outside' }).waitFor()
    await page.locator('#tab-console').click()
    await type(page, 'lag 1')
    await page.locator('.labels li', { hasText: 'server 1' }).filter({ hasText: /lagging|behind/ }).waitFor()
    await type(page, 'resume 1')
    await type(page, 'get configmaps')
    await says(page, /200/)
    await type(page, 'undo')
    await says(page, /a served cluster accepts/)
    await controllers(page, server)
    await page.locator('.guide a').click()
    await ready(page) // the page's own world
    assert.deepEqual(faults, [])
  } finally {
    await browser.close()
    await server.stop()
  }
})

const web = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec: { replicas: 2, selector: { matchLabels: { app: 'web' } },
  template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } } } }

// controllers checks that controllers of the served cluster have lanes and cards, and that commands on them run in that cluster.
async function controllers(page, server) {
  const told = async () => (await (await fetch(`${server.serving}/sim/v1/controllers`, { headers: { accept: 'application/json' } })).json())
  const one = async name => (await told()).controllers.find(controller => controller.name === name)
  const send = body => fetch(`${server.serving}/apis/apps/v1/namespaces/default/deployments`, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body),
  })
  assert.equal((await send(web)).status, 201)
  await page.locator('.labels [data-lane="controller/deployment-controller"]').click()
  await page.locator('.words button', { hasText: 'slow deployment-controller 30s' }).click()
  await page.locator('.labels li', { hasText: 'slow' }).waitFor()
  assert.equal((await one('deployment-controller')).slow, 30_000)
  await page.locator('.words button', { hasText: 'slow deployment-controller 0s' }).click()
  await page.locator('#tab-actors').click()
  await page.locator('.plane details summary').click()
  await page.locator('.plane button[aria-label="stop replicaset-controller"]').click()
  await page.locator('.plane li', { hasText: 'replicaset-controller' }).filter({ hasText: 'stopped' }).waitFor()
  await lookAt(page, 'controllers of a served cluster')
  await page.locator('.plane button[aria-label="start replicaset-controller"]').click()
  await page.locator('.plane .option input').check()
  await page.waitForFunction(() => document.querySelector('.plane .option input').checked && document.querySelector('.plane .primary[aria-disabled="false"]'))
  assert.equal((await told()).stepped, true)
  assert.equal((await send({ ...web, metadata: { name: 'two' } })).status, 201)
  await page.locator('.plane li', { hasText: 'deployment-controller' }).filter({ hasText: 'default/two' }).waitFor()
  await page.locator('.plane button[aria-label="step deployment-controller"]').click()
  await page.locator('.mark[data-kind="reconcile"][aria-label*="default/two"]').first().waitFor()
  await page.locator('.plane .option input').click()
  await page.locator('#tab-console').click()
}

test('the token in the link stays in the tab, and a page without a token asks for one', { timeout: 300_000 }, async () => {
  const server = await serving('--auth', 'rbac')
  const browser = await launch()
  try {
    assert.match(server.page, /\/#token=admintoken$/)
    const { page, faults } = await open(browser, server.page)
    const as = name => page.locator('.engine', { hasText: `served, as ${name}` }).waitFor()
    await as('admin')
    assert.equal(await page.evaluate(() => location.href + JSON.stringify(localStorage)).then(seen => seen.includes('admintoken')), false)
    const made = await fetch(`${server.serving}/api/v1/namespaces/default/configmaps`, {
      method: 'POST', headers: { 'content-type': 'application/json', authorization: 'Bearer admintoken' }, body: JSON.stringify({ metadata: { name: 'mine' } }),
    })
    assert.equal(made.status, 201)
    await page.locator('.mark[aria-label*="default/mine"]').first().waitFor() // the trace is followed
    await type(page, 'get configmaps')
    await says(page, /200/)
    await page.reload()
    await as('admin')

    const stranger = await open(browser, server.page.replace(/#.*/, ''))
    const form = stranger.page.locator('form.token')
    await form.locator('p', { hasText: 'User "system:anonymous" cannot' }).waitFor()
    await lookAt(stranger.page, 'a token is asked for')
    await form.locator('input').fill('nonsense')
    await form.locator('button').click()
    await form.locator('p', { hasText: 'Unauthorized' }).waitFor()
    await form.locator('input').fill('alicetoken')
    await form.locator('button').click()
    await form.locator('p', { hasText: 'User "alice" cannot get path "/sim/v1/trace"' }).waitFor() // the page has a token without permission: the message names its user
    await type(stranger.page, 'get configmaps')
    await says(stranger.page, /403 .*User "alice" cannot list resource "configmaps"/)
    await form.locator('input').fill('admintoken')
    await form.locator('button').click()
    await stranger.page.locator('.engine', { hasText: 'served, as admin' }).waitFor()
    await stranger.page.locator('.mark[aria-label*="default/mine"]').first().waitFor()
    const refusals = /status of 40[13]/
    assert.deepEqual([...faults, ...stranger.faults].filter(fault => !refusals.test(fault)), [])
    assert.deepEqual(faults, [])
  } finally {
    await browser.close()
    await server.stop()
  }
})
