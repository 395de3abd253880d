// A dump of a real cluster that is dropped on the page becomes its world.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { ready, says, type } from './browser.mjs'
import { hosted } from './hosted.mjs'

const it = hosted()
const recorded = new URL('../../fake/testdata/import/real/cluster.json.gz', import.meta.url)

// drop drops files on the page, given as [name, bytes].
const drop = (page, files) => page.evaluate(all => {
  const dataTransfer = new DataTransfer()
  for (const [name, data] of all) dataTransfer.items.add(new File([Uint8Array.from(atob(data), c => c.charCodeAt(0))], name))
  for (const kind of ['dragover', 'drop']) document.body.dispatchEvent(new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true }))
}, files.map(([name, bytes]) => [name, Buffer.from(bytes).toString('base64')]))

test('a dump of a real cluster becomes the world, with its nodes and controllers', async () => {
  const { context, page, faults } = await it.open()
  await ready(page)
  await drop(page, [['cluster.json.gz', readFileSync(recorded)]])
  await says(page, /imported \d+ objects/)
  assert.match(await page.locator('.entry').last().innerText(), /from cluster\.json\.gz[\s\S]*as it was at 2026-11-29T00:33/)
  await type(page, 'kubectl get pods -n shop')
  await says(page, /web-\S+ +1\/1 +Running +7/)
  await type(page, 'kubectl drain node-1 --ignore-daemonsets --force')
  await says(page, /evicting pod|evicted/)
  await type(page, 'tick 1m')
  await type(page, 'kubectl get pods -n shop')
  await says(page, /web-\S+ +1\/1 +Running +0/) // a controller has replaced the pod, and a kubelet runs it
  assert.deepEqual(faults, [])
  await context.close()
})

test('objects that cannot be imported are listed, and a damaged file changes nothing', async () => {
  const { context, page, faults } = await it.open()
  await ready(page)
  await type(page, 'create configmap mine')
  await drop(page, [['broken.yaml', 'kind: A\n---\na: b: c\n']])
  await page.locator('.banner', { hasText: 'broken.yaml:3: mapping values are not allowed in this context' }).waitFor()
  await type(page, 'get configmap mine')
  await says(page, /200/)
  await drop(page, [
    ['pods.yaml', 'kind: ConfigMap\napiVersion: v1\nmetadata: {name: a, namespace: shop, resourceVersion: "12"}\n---\nkind: Widget\napiVersion: example.com/v1\nmetadata: {name: w}\n'],
    ['version.json', '{"major":"1"}'], ['x.log', '{'],
  ])
  await says(page, /imported 1 objects/)
  const told = await page.locator('.entry').last().innerText()
  for (const line of ['from pods.yaml, version.json, x.log', 'not imported: version.json:1: not an object: it has no kind and apiVersion',
    'created the missing namespaces shop', 'not imported: Widget w: no API server serves Widget in version example.com/v1']) assert.ok(told.includes(line), `${line} in ${told}`)
  await type(page, 'get configmap a -n shop -o name')
  await says(page, /configmaps\/shop\/a rv 12/)
  await page.goBack() // to the previous world
  await page.locator('.entry', { hasText: 'create configmap mine' }).waitFor()
  assert.deepEqual(faults, [])
  await context.close()
})

test('a large cluster has no link, and can also be opened with a button', async () => {
  const { context, page, faults } = await it.open()
  await ready(page)
  const dir = mkdtempSync(join(tmpdir(), 'kubesim-'))
  const file = join(dir, 'large.yaml')
  const items = Array.from({ length: 400 }, (_, i) => ({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: `c${i}`, namespace: 'default' }, data: { text: 'x'.repeat(3000) } }))
  writeFileSync(file, items.map(item => JSON.stringify(item)).join('\n'))
  await page.locator('.bar nav button', { hasText: 'Share' }).click()
  await page.locator('dialog input[type=file]').setInputFiles(file)
  await says(page, /imported 400 objects/)
  await type(page, 'delete configmap c7')
  await page.waitForFunction(() => location.hash === '')
  await page.locator('.bar nav button', { hasText: 'Share' }).click()
  await page.locator('dialog', { hasText: 'too large for a link' }).waitFor()
  rmSync(dir, { recursive: true })
  assert.deepEqual(faults, [])
  await context.close()
})
