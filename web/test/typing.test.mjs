// Input at the prompt: here-documents, clear, edit, Ctrl+C; and the state after a reload.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deflateRawSync } from 'node:zlib'
import { freePlay, ready, says, type } from './browser.mjs'
import { hosted } from './hosted.mjs'

const it = hosted()

async function enter(page, line) {
  await page.locator('#command').focus()
  await page.keyboard.insertText(line)
  await page.keyboard.press('Enter')
}

test('a here-document is typed line by line, kubectl edit opens the editor, Ctrl+C ends a watch, clear clears', async () => {
  const { context, page, faults } = await it.open()
  await freePlay(page)
  await page.evaluate(lines => { // faster than the page is rendered
    const input = document.getElementById('command')
    for (const line of lines) {
      input.value += line
      input.dispatchEvent(new InputEvent('input', { bubbles: true }))
      input.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }))
    }
  }, ['kubectl apply -f - <<EOF', 'apiVersion: v1', 'kind: ConfigMap', 'metadata:', '  name: typed'])
  await page.locator('.gathered', { hasText: '  name: typed' }).waitFor()
  await enter(page, 'EOF')
  await page.locator('.entry', { hasText: 'configmap/typed created' }).waitFor() // the running clock may add an entry
  await enter(page, 'kubectl edit cm typed')
  await page.locator('.editor .cm-content', { hasText: 'name: typed' }).waitFor()
  await page.locator('#tab-console').click()
  await type(page, 'kubectl get configmaps -w')
  await says(page, 'Ctrl+C ends this')
  await page.locator('#command').press('Control+c')
  await page.locator('.entry', { hasText: /stop w\d/ }).waitFor()
  await type(page, 'kubectl create configmap later')
  await says(page, /^› kubectl create configmap later\s*configmap\/later created\s*$/)
  await type(page, 'kubectl exec -it typed -- sh')
  await enter(page, 'clear')
  await page.locator('.entry').first().waitFor({ state: 'detached' })
  assert.deepEqual(faults, [])
  await context.close()
})

test('lines that are typed without a pause are all present after a reload', async () => {
  const { context, page, faults } = await it.open()
  await ready(page)
  await page.locator('#command').focus()
  for (let i = 0; i < 40; i++) await enter(page, `create configmap fast-${i}`)
  await page.locator('.entry', { hasText: 'fast-39' }).waitFor()
  await page.reload()
  await ready(page)
  await page.locator('.entry', { hasText: 'fast-39' }).waitFor()
  assert.deepEqual(faults, [])
  await context.close()
})

// everyday is a log of lines as people type them, in a new cluster.
function everyday(lines) {
  const line = i => [`kubectl create configmap c${i} --from-literal=a=${i}`, 'kubectl get configmaps', `kubectl label configmap c${i - 2} x=y`, 'kubectl get pods',
    `kubectl delete configmap c${i - 4}`, 'kubectl get all', 'kubectl get nodes', 'tick 1s'][i % 8]
  const log = Array.from({ length: lines }, (_, i) => ({ line: line(i) }))
  return `#v1.dev.${deflateRawSync(JSON.stringify({ seed: '1', controllers: ['*'], nodes: 3, whole: true, log })).toString('base64url')}`
}

test('after 2,000 lines an undo executes few of them again, and so does the one after it', async () => {
  const { context, page, faults } = await it.open({}, it.host.url + everyday(2000))
  context.setDefaultTimeout(120_000)
  await ready(page)
  await page.evaluate(() => { // of the engine's answers, what they say of the lines that were executed again
    window.replayed = []
    const { decode } = TextDecoder.prototype
    TextDecoder.prototype.decode = function (...bytes) {
      const text = decode.apply(this, bytes)
      const count = /"replayed":(\d+)/.exec(text.slice(0, 1000))
      if (count) window.replayed.push(Number(count[1]))
      return text
    }
  })
  await type(page, 'kubectl get configmaps')
  for (let i = 1; i <= 3; i++) {
    await page.locator('#command').press('Control+z')
    await page.waitForFunction(n => window.replayed.length === n, i)
  }
  const replayed = await page.evaluate(() => window.replayed)
  console.log(`lines executed again by three undos after 2,000 lines: ${replayed.join(', ')}`)
  assert.ok(Math.max(...replayed) < 150, `an undo executed ${Math.max(...replayed)} lines again`)
  assert.deepEqual(faults, [])
  await context.close()
})

test('progress is not forgotten by one click', async () => {
  const { context, page } = await it.open()
  await ready(page)
  await page.locator('.bar nav button', { hasText: 'Lessons' }).click()
  await page.locator('dialog button', { hasText: 'Reset progress' }).click()
  await page.locator('dialog button', { hasText: 'Really forget all progress?' }).waitFor()
  await context.close()
})
