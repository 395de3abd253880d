// The test of an article that embeds scenarios, in the system's Chromium. The article has a Content-Security-Policy and loads only this
// package.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { extname, join, normalize } from 'node:path'
import { after, before, test } from 'node:test'
import { violations } from '../../test/axe.mjs'
import { launch, open } from '../../test/browser.mjs'
import { browsers } from '../../test/find.mjs'

const missing = browsers.chromium.find() ? false : browsers.chromium.missing
const types = { '.html': 'text/html', '.js': 'text/javascript', '.txtar': 'text/plain', '.bin': 'application/octet-stream' }
let site
let browser

before(async () => {
  if (missing) return
  site = createServer(async (request, response) => {
    const path = normalize(new URL(request.url, 'http://host').pathname)
    if (path === '/favicon.ico') return response.writeHead(204).end()
    const file = join(import.meta.dirname, path.startsWith('/dist/') ? '..' : '.', path)
    const bytes = await readFile(file).catch(() => undefined)
    response.writeHead(bytes ? 200 : 404, { 'content-type': types[extname(path)] ?? 'text/plain' }).end(bytes)
  })
  await new Promise(resolve => site.listen(0, '127.0.0.1', resolve))
  browser = await launch()
})

after(async () => {
  await browser?.close()
  site?.close()
  site?.closeAllConnections()
})

test('an article embeds scenarios', { skip: missing, timeout: 300_000 }, async t => {
  const { context, page, faults } = await open(browser, `http://127.0.0.1:${site.address().port}/article.html`)
  context.setDefaultTimeout(60_000)
  t.after(() => context.close())
  const embed = id => {
    const element = page.locator(`#${id}`)
    return { element, status: element.getByRole('status'), answers: element.locator('ol pre'), click: name => element.getByRole('button', { name }).click() }
  }

  const lines = embed('lines')
  assert.deepEqual(await lines.element.locator('code').allInnerTexts(), ['create configmap a --as alice', '! create configmap a --as bob', 'get configmaps'])
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await lines.element.getByText('Line 1 of 3 has run').waitFor()
  assert.equal(await lines.element.evaluate(element => element.shadowRoot.activeElement?.textContent), 'Run the next line') // the button keeps the focus
  await lines.click('Run all')
  await lines.element.getByText('Line 3 of 3 has run').waitFor()
  assert.equal(await lines.answers.count(), 3)
  assert.match(await lines.answers.nth(1).innerText(), /409/)
  await lines.element.locator('summary').click()
  assert.match(await lines.element.locator('table').innerText(), /client\/bob/)
  assert.deepEqual(await violations(page), [])
  await lines.click('Start again')
  assert.equal(await lines.answers.count(), 0)
  await lines.click('Run the next line')
  await lines.element.getByText('Line 1 of 3 has run').waitFor()

  const file = embed('file')
  await file.click('Run all') // loads the data of 1.35, and the engine with CEL
  await file.element.getByText(/Line 4 of 4 has run/).waitFor()
  assert.match(await file.answers.last().innerText(), /failed rule: self.legs == 4/)

  const wrong = embed('wrong')
  await wrong.click('Run all')
  await wrong.element.getByText(/there is no command "explode"/).first().waitFor()
  assert.match(await embed('empty').status.innerText(), /has no lines: write them into its attribute scenario/)
  assert.deepEqual(faults, [])
  await page.screenshot({ path: process.env.SHOT ?? '/dev/null', fullPage: true, type: 'png' })
})
