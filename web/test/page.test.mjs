// The requirements of the page in a real browser. Every test loads the built page (dist) from a static host.
import assert from 'node:assert/strict'
import { copyFileSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { closeDialog, hash, ready, says, tabTo, type } from './browser.mjs'
import { hosted } from './hosted.mjs'

const it = hosted()
const marks = page => page.locator('.mark').count()

test('lines connect a request, its commit and its event', async () => {
  const { context, page, faults } = await it.open()
  await ready(page)
  const before = await marks(page)
  await type(page, 'create configmap caused')
  await page.waitForFunction(n => document.querySelectorAll('.mark').length > n + 3, before)
  assert.ok(await page.locator('.causes path').count() >= 3, 'request to commit, commit to cache, cache to watch')
  await says(page, /201 Created configmaps\/caused/)
  assert.deepEqual(faults, [])
  await context.close()
})

test('undo removes one operation, redo restores it, with the same bytes', async () => {
  const { context, page } = await it.open()
  await ready(page)
  await type(page, 'create configmap one')
  const first = await hash(page)
  await type(page, 'create configmap two')
  const second = await hash(page)
  await page.locator('body').press('Control+z')
  await page.locator('.entry.undone').waitFor()
  assert.equal((await hash(page)).sum, first.sum)
  await page.locator('body').press('Control+Shift+z')
  await page.locator('.entry.undone').waitFor({ state: 'detached' })
  assert.equal((await hash(page)).sum, second.sum)
  await context.close()
})

test('a dialog that closes leaves the focus on the element that the user has focused since', async () => {
  const { context, page } = await it.open()
  await ready(page)
  await page.locator('.bar nav button', { hasText: 'Share' }).click()
  await page.locator('dialog').waitFor()
  await page.evaluate(() => {
    document.querySelector('dialog').close()
    document.querySelector('#command').focus()
  })
  await page.locator('dialog').waitFor({ state: 'detached' })
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'command')
  await page.locator('.bar nav button', { hasText: 'Share' }).click()
  await closeDialog(page)
  assert.match(await page.evaluate(() => document.activeElement?.textContent ?? ''), /Share/)
  await context.close()
})

test('a link restores the same world', async () => {
  const { context, page } = await it.open()
  await ready(page)
  for (const line of ['create configmap a', 'tick 5m', 'lag 1', 'create configmap <img src=x onerror=alert(1)>']) await type(page, line)
  const { sum, link } = await hash(page)
  await page.waitForFunction(l => location.href === l, link)
  const other = await it.open({}, link)
  await ready(other.page)
  assert.equal((await hash(other.page)).sum, sum)
  assert.deepEqual(other.faults, [])
  await context.close()
  await other.context.close()
})

test('a damaged link is reported, and the page opens as usual', async () => {
  const { context, page, faults } = await it.open({}, `${it.host.url}#v1.abc.AAAA`)
  await ready(page)
  assert.match(await page.locator('.banner').innerText(), /could not be read/)
  await page.locator('.guide .caption').waitFor()
  assert.deepEqual(faults, [])
  await context.close()
})

test('scrubbing shows the past, and a fork continues from there', async () => {
  const { context, page } = await it.open()
  await ready(page)
  await type(page, 'create configmap kept')
  await type(page, 'create configmap dropped')
  await page.keyboard.press('Escape') // leaves the command line
  for (let i = 0; i < 4; i++) await page.keyboard.press(',')
  await page.locator('.past').waitFor()
  await page.keyboard.press('f')
  await page.locator('.past').waitFor({ state: 'detached' })
  await type(page, 'get configmaps')
  await says(page, /kept/)
  assert.doesNotMatch(await page.locator('.entry').last().textContent(), /dropped/)
  await context.close()
})

test('the timeline can be navigated without a mouse', async () => {
  const { context, page } = await it.open()
  await ready(page)
  await type(page, 'create configmap walked')
  await tabTo(page, '.mark', 'Shift+Tab')
  assert.equal(await page.locator('.mark[tabindex="0"]').count(), await page.locator('.labels li').count() - 1, 'one tab stop for each lane')
  const name = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? '')
  const here = await name()
  await page.keyboard.press('ArrowUp')
  await page.waitForFunction(last => document.activeElement?.matches('.mark') && document.activeElement.getAttribute('aria-label') !== last, here)
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('Enter')
  await page.locator('.inspector h2').waitFor()
  await page.keyboard.press('t')
  assert.match(await page.locator('.textlog').innerText(), /walked/)
  await context.close()
})

test('an expired continue token and watch look expired before they are used', async () => {
  const { context, page } = await it.open()
  await ready(page)
  for (const line of ['create configmap a', 'create configmap b', 'list configmaps --limit 1', 'watch configmaps --name old', 'stop old', 'create configmap c', 'expire']) {
    await type(page, line)
  }
  await page.locator('.token.expired').waitFor()
  await page.locator('.compacted').waitFor()
  await type(page, 'list configmaps --limit 1 --continue last')
  await says(page, /410/)
  await context.close()
})

test('the editor sends a manifest, and shows the server\'s errors at their lines', async () => {
  const { context, page, faults } = await it.open()
  await ready(page)
  await page.locator('#tab-objects').click()
  await page.locator('.stage button', { hasText: /^New$/ }).click()
  await page.locator('.editor .cm-content').waitFor()
  await page.locator('.editing button', { hasText: 'Create' }).click()
  await page.locator('table button.row', { hasText: 'settings' }).click()
  await page.locator('.detail h2', { hasText: 'default/settings' }).waitFor()
  await page.locator('.forms button', { hasText: 'Owners' }).click()
  await page.locator('.bands .letter').first().waitFor()
  await page.locator('.stage button', { hasText: /^New$/ }).click()
  await page.locator('.editor .cm-content').click()
  await page.keyboard.press('Control+Home')
  await page.keyboard.insertText('nonsense: 1\n')
  await page.locator('.editing button', { hasText: 'Check' }).click()
  await page.locator('.editing .bad', { hasText: 'unknown field' }).waitFor()
  assert.match(await page.locator('.editing .bad').innerText(), /^1: /)
  assert.deepEqual(faults, [])
  await context.close()
})

test('raw HTTP in every format, protobuf decoded field by field', async () => {
  const { context, page } = await it.open()
  await ready(page)
  await type(page, 'create configmap wired')
  await page.locator('#tab-http').click()
  for (const [form, shown] of [['Protobuf', '.fields'], ['Table', '.answered table'], ['JSON', '.answered pre']]) {
    await page.locator('.raw .forms button', { hasText: form }).click()
    await page.locator('.raw button', { hasText: 'Send' }).click()
    await page.locator(shown).first().waitFor()
  }
  await context.close()
})

test('an incomplete engine is refused, and the page shows why', async () => {
  const host = await it.serve({ change: { files: /\/core-.*\.wasm$/, to: bytes => bytes.subarray(0, 1e6) } })
  const { context, page } = await it.open({}, host.url)
  await page.locator('.banner.stopped', { hasText: /the engine could not be loaded: the packed file is damaged or not whole, at byte 1000000/ }).waitFor()
  await context.close()
})

test('kubectl commands need no larger engine', async () => {
  const host = await it.serve({ change: { files: /\/cel-.*\.wasm$/, to: () => null } })
  const { context, page, faults } = await it.open({}, host.url)
  await ready(page)
  await type(page, 'kubectl create configmap words --from-literal=k=v')
  await says(page, /configmap\/words created/)
  await type(page, 'kubectl describe configmap words')
  await says(page, /Name: +words/)
  assert.deepEqual(faults, [])
  await context.close()
})

test('a CEL rule loads the larger engine, and the world stays the same', async () => {
  const { context, page, faults } = await it.open()
  await ready(page)
  await type(page, 'create configmap before')
  await page.locator('#tab-objects').click()
  await page.locator('.stage button', { hasText: /^New$/ }).click()
  await page.locator('.editor .cm-content').click()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText(JSON.stringify({
    apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'gears.example.com' },
    spec: {
      group: 'example.com', scope: 'Namespaced', names: { plural: 'gears', singular: 'gear', kind: 'Gear' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: {
        spec: { type: 'object', properties: { size: { type: 'integer' } }, 'x-kubernetes-validations': [{ rule: 'self.size > 1', message: 'too small' }] },
      } } } }],
    },
  }))
  await page.locator('.editing button', { hasText: 'Create' }).click()
  await page.locator('.objects select option', { hasText: 'gears.example.com' }).waitFor({ state: 'attached', timeout: 60_000 })
  await page.locator('#tab-console').click()
  await type(page, 'create gears tooth --set spec.size=1')
  await says(page, /422.*too small/s)
  await type(page, 'get configmap before')
  await says(page, /200/)
  assert.deepEqual(faults, [])
  await context.close()
})

test('a world can be saved as a scenario file and opened again', async () => {
  const { context, page } = await it.open()
  await ready(page)
  await page.locator('.bar nav button', { hasText: 'Lessons' }).click()
  await page.locator('dialog button', { hasText: 'Free play' }).click()
  await page.locator('.guide h2', { hasText: 'Free play' }).waitFor()
  for (const line of ['create configmap a', 'lag 1', 'create configmap b']) await type(page, line)
  const rv = /rv \d+/
  await says(page, rv)
  const made = await page.locator('.entry').last().textContent()
  await page.locator('.bar nav button', { hasText: 'Share' }).click()
  const [download] = await Promise.all([page.waitForEvent('download'), page.locator('dialog button', { hasText: 'txtar' }).click()])
  const file = join(mkdtempSync(join(tmpdir(), 'kubesim-')), 'world.txtar') // the page recognizes a scenario by its extension, which Chromium's temporary file does not have
  copyFileSync(await download.path(), file)
  await closeDialog(page)
  await type(page, 'create configmap more')
  await page.locator('.bar nav button', { hasText: 'Share' }).click()
  await page.locator('dialog input[type=file]').setInputFiles(file)
  await page.waitForFunction(() => document.querySelectorAll('.entry').length === 7) // auth, controllers, nodes and classes are lines of the file
  await says(page, rv)
  assert.equal(rv.exec(await page.locator('.entry').last().textContent())[0], rv.exec(made)[0])
  await context.close()
})

// breakable returns the engine's Worker with an addition that makes it fail on request.
const breakable = bytes => `${bytes}
const channel = new BroadcastChannel('break')
channel.onmessage = () => {
  globalThis.kubesimHandle = () => { throw new Error('broken on purpose') }
  channel.postMessage('broken')
}`

test('a crash is shown, and a restart replays the log', async () => {
  const host = await it.serve({ change: { files: /\/worker-.*\.js$/, to: breakable } })
  const { context, page } = await it.open({}, host.url)
  await ready(page)
  await type(page, 'create configmap survivor')
  const { sum } = await hash(page)
  await page.evaluate(() => new Promise(resolve => {
    const channel = new BroadcastChannel('break')
    channel.onmessage = resolve
    channel.postMessage('break')
  }))
  await type(page, 'create configmap lost')
  await page.locator('.stopped').waitFor()
  await page.locator('.stopped .primary').click()
  await ready(page)
  assert.equal((await hash(page)).sum, sum)
  await context.close()
})

test('the page works offline after the first visit', async () => {
  const other = await it.serve()
  const { context, page } = await it.open({ serviceWorkers: 'allow' }, other.url)
  await ready(page)
  await page.evaluate(() => navigator.serviceWorker.ready)
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null)
  other.down()
  await page.reload()
  await ready(page)
  await type(page, 'create configmap offline')
  await page.locator('#tab-objects').click()
  await page.locator('.stage button', { hasText: /^New$/ }).click()
  await page.locator('.editor .cm-content').waitFor()
  await context.close()
})

test('situations run with one key', async () => {
  const { context, page } = await it.open()
  await ready(page)
  await page.locator('body').press('s')
  await page.locator('dialog').waitFor()
  await page.keyboard.press('c')
  await page.locator('.entry .bad', { hasText: '409' }).first().waitFor()
  await page.locator('body').press('s')
  await page.locator('dialog').waitFor()
  await page.keyboard.press('l')
  await page.locator('.labels li', { hasText: 'server 2' }).waitFor()
  await page.locator('.labels li', { hasText: /behind|lagging/ }).first().waitFor()
  await context.close()
})
