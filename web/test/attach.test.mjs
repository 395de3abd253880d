// The page of kubesim serve --web shows the cluster that is served, live.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { launch, open, ready, says, type } from './browser.mjs'

const root = new URL('../../', import.meta.url).pathname
const go = process.env.GO ?? 'go'

function build(folder) {
  const program = join(folder, 'kubesim')
  execFileSync(go, ['build', '-o', program, './fake/cmd/kubesim'], { cwd: root, stdio: 'inherit' })
  return program
}

// serving starts the server and returns where the API and the page are.
async function serving(program) {
  const child = spawn(program, ['serve', '--nodes', '2', '--web', join(root, 'web/dist')], { stdio: ['ignore', 'pipe', 'ignore'] })
  const at = {}
  for await (const line of createInterface(child.stdout)) {
    const [what, url] = line.split(' ')
    at[what] = url
    if (what === 'page') break
  }
  return { ...at, stop: () => new Promise(resolve => { child.once('exit', resolve).kill() }) }
}

test('kubesim serve --web shows what happens in the served cluster as it happens', { timeout: 300_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubesim-'))
  const server = await serving(build(folder))
  const browser = await launch()
  try {
    const { page, faults } = await open(browser, server.page)
    await page.locator('.engine', { hasText: 'v1.36' }).waitFor()
    await page.locator('.guide h2', { hasText: 'The cluster that is served' }).waitFor()
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
    await says(page, /a cluster that is served takes/)
    await page.locator('.guide a').click()
    await ready(page) // a world of one's own
    assert.deepEqual(faults, [])
  } finally {
    await browser.close()
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
})
