// Controllers in the page, and actions by pointer: lanes and their commands, the compaction handle, two servers, pasted lines, fetch in the
// browser, and the embedded page.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deflateRawSync } from 'node:zlib'
import { ready, says, tabTo, takeLesson, type } from './browser.mjs'
import { hosted } from './hosted.mjs'

const it = hosted()

async function freePlay(options) {
  const opened = await it.open(options)
  await ready(opened.page)
  await opened.page.locator('.guide .chips button', { hasText: 'Free play' }).click()
  await opened.page.locator('.guide h2', { hasText: 'Free play' }).waitFor()
  return opened
}

const lane = (page, name) => page.locator('.labels li', { hasText: name })

test('a Deployment activates its controllers: their lanes appear, the others are hidden, and they can be stepped', async () => {
  const { context, page, faults } = await freePlay({ viewport: { width: 1440, height: 1400 } })
  await type(page, 'apply -f deployment.yaml')
  await type(page, 'create namespace shop')
  await page.locator('button', { hasText: /quiet controllers?$/ }).waitFor()
  const all = await page.locator('.labels li').count()
  await page.locator('button', { hasText: /quiet controllers?$/ }).click()
  await page.locator('button', { hasText: 'Hide quiet' }).waitFor()
  await lane(page, 'deployment-controller').waitFor()
  assert.ok(await page.locator('.labels li').count() > all)
  assert.ok(await page.locator('.mark[data-kind="reconcile"]').count() > 4)
  await page.locator('button', { hasText: 'Hide quiet' }).click()
  await page.locator('#tab-actors').click()
  await page.locator('.plane input[type=checkbox]').check()
  await page.locator('#tab-console').click()
  await type(page, 'patch deployment web -p \'{"spec":{"replicas":3}}\'')
  await page.locator('#tab-actors').click()
  const card = name => page.locator('.plane .cards > li', { has: page.locator('b', { hasText: new RegExp(`^${name}$`) }) })
  await card('deployment-controller').locator('li', { hasText: /^default\/web$/ }).waitFor()
  await card('deployment-controller').locator('button', { hasText: 'step' }).click()
  await lane(page, 'deployment-controller').waitFor()
  await card('replicaset-controller').locator('li', { hasText: /^default\/web-/ }).first().waitFor()
  await card('replicaset-controller').locator('button', { hasText: 'stop' }).click()
  await card('replicaset-controller').locator('.bad', { hasText: 'stopped' }).waitFor()
  await lane(page, 'replicaset-controller').filter({ hasText: 'stopped' }).waitFor()
  assert.deepEqual(faults, [])
  await context.close()
})

test('a click on a lane shows its commands, which the keyboard reaches too', async () => {
  const { context, page } = await freePlay()
  await type(page, 'create configmap a')
  await lane(page, 'server 1').locator('button').click()
  await page.locator('.words button', { hasText: 'lag 1' }).click()
  await lane(page, 'server 1').filter({ hasText: 'lagging' }).waitFor()
  await page.locator('.words button', { hasText: 'resume 1' }).click()
  await lane(page, 'server 1').filter({ hasText: 'lagging' }).waitFor({ state: 'detached' })
  await page.keyboard.press('Escape')
  await page.locator('.words').waitFor({ state: 'detached' })
  assert.equal(await page.evaluate(() => document.activeElement?.dataset.lane), 'replica/1', 'the focus goes back to the name')
  await tabTo(page, '[data-lane="client/you"]')
  await page.keyboard.press('Enter')
  await page.locator('.words button', { hasText: 'hold you' }).waitFor()
  await page.waitForFunction(() => document.activeElement?.textContent === 'hold you')
  await context.close()
})

test('the compacted revision is set with the pointer and with the keyboard', async () => {
  const { context, page } = await freePlay()
  for (const name of ['a', 'b', 'c', 'd']) await type(page, `create configmap ${name}`)
  const grip = await page.locator('.handle .grip').boundingBox()
  const marks = page.locator('.mark[data-kind="store.commit"]')
  const second = await marks.nth(1).boundingBox()
  await page.mouse.move(grip.x + grip.width / 2, grip.y + grip.height / 2)
  await page.mouse.down()
  await page.mouse.move(second.x + second.width / 2 + 20, grip.y + 8, { steps: 4 })
  await page.mouse.up()
  await page.locator('.entry .line', { hasText: /compact \d+/ }).waitFor()
  await page.locator('.compacted').waitFor()
  const reached = await page.locator('.handle').getAttribute('aria-valuenow')
  await page.locator('.handle').focus()
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('Enter')
  await page.waitForFunction(before => Number(document.querySelector('.handle').getAttribute('aria-valuenow')) > Number(before), reached)
  await type(page, 'list configmaps --rv 1 --rv-match Exact')
  await says(page, /410/)
  await context.close()
})

test('two servers, one of them behind, show one object side by side', async () => {
  const { context, page, faults } = await it.open()
  await ready(page)
  await page.locator('body').press('s')
  await page.locator('dialog').waitFor()
  await page.keyboard.press('l') // two servers, and the second lags
  await lane(page, 'server 2').filter({ hasText: /behind|lagging/ }).waitFor()
  await page.locator('#tab-objects').click()
  await page.locator('table button.row', { hasText: 'fresh' }).click()
  await page.locator('.forms button', { hasText: 'Servers' }).click()
  await page.locator('.skew th', { hasText: 'does not have it' }).waitFor()
  assert.ok(await page.locator('.skew .differs').count() > 3)
  assert.deepEqual(faults, [])
  await context.close()
})

// paste pastes a text into the command line.
async function paste(page, text) {
  await page.evaluate(copied => {
    const elsewhere = document.createElement('textarea')
    elsewhere.value = copied
    document.body.append(elsewhere)
    elsewhere.select()
  }, text)
  await page.keyboard.press('Control+c')
  await page.evaluate(() => document.querySelector('body > textarea').remove())
  await page.locator('#command').press('Control+v')
}

test('pasted lines run one after the other, a here-document becomes a file, and Tab completes like a shell', async () => {
  const { context, page } = await freePlay()
  await paste(page, '$ create configmap one\n# two follows\ncreate configmap two\n')
  await page.locator('.entry .line', { hasText: 'create configmap two' }).waitFor()
  await paste(page, 'kubectl apply -f - <<EOF\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: pasted}\nEOF\n')
  await page.locator('.entry .line', { hasText: 'kubectl apply -f' }).waitFor({ timeout: 60_000 })
  await says(page, /configmap\/pasted created/)
  const input = page.locator('#command')
  await input.pressSequentially('get confi')
  await page.locator('#candidates li').first().waitFor()
  await page.keyboard.press('Tab')
  await page.waitForFunction(() => document.getElementById('command').value === 'get configmaps ')
  await input.fill('create -f con')
  await page.locator('#candidates li', { hasText: 'configmap.yaml' }).waitFor()
  await page.keyboard.press('Tab')
  await page.waitForFunction(() => document.getElementById('command').value.startsWith('create -f configmap'))
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'command', 'Tab stays in the line')
  await context.close()
})

test('the guide and the transcript show the past, too', async () => {
  const { context, page } = await it.open()
  await ready(page)
  await takeLesson(page, 'first')
  const frames = await page.locator('.scrub').getAttribute('max')
  await type(page, 'create configmap paint --from-literal color=red')
  await page.locator('.guide .eyebrow', { hasText: 'Step 2' }).waitFor()
  await page.locator('.scrub').fill(frames)
  await page.locator('.guide .eyebrow', { hasText: 'Step 1' }).waitFor()
  await page.locator('.guide .hint', { hasText: 'as it was' }).waitFor()
  await page.locator('.transcript .hint', { hasText: 'One later line' }).waitFor()
  assert.equal(await page.locator('.entry').count(), 0)
  await page.locator('.past button', { hasText: 'Newest' }).click()
  await page.locator('.guide .eyebrow', { hasText: 'Step 2' }).waitFor()
  await page.locator('.entry').waitFor()
  await context.close()
})

test('fetch in the page is answered by its engine: reads, writes, refusals and a watch', async () => {
  const { context, page } = await freePlay({ serviceWorkers: 'allow' })
  await page.evaluate(() => navigator.serviceWorker.ready)
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null)
  const answers = await page.evaluate(async () => {
    const at = '/api/v1/namespaces/default/configmaps'
    const { metadata } = await (await fetch(at)).json()
    const watch = await fetch(`${at}?watch=1&resourceVersion=${metadata.resourceVersion}`)
    const reader = watch.body.pipeThrough(new TextDecoderStream()).getReader()
    const post = name => fetch(at, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ metadata: { name } }) })
    const made = await post('fetched')
    const again = await post('fetched')
    let said = (await reader.read()).value
    if (said === '\n') said = (await reader.read()).value // the extra blank line for Firefox
    const event = JSON.parse(said)
    await reader.cancel()
    if (/Firefox\//.test(navigator.userAgent)) await post('later') // Firefox's service worker is notified with the next event
    const list = await (await fetch(at)).json()
    const yaml = await fetch(`${at}/fetched`, { headers: { accept: 'application/yaml' } })
    return { made: made.status, again: (await again.json()).reason, event: [event.type, event.object.metadata.name], names: list.items.map(one => one.metadata.name), yaml: yaml.headers.get('content-type') }
  })
  assert.deepEqual([answers.made, answers.again, answers.event, answers.yaml], [201, 'AlreadyExists', ['ADDED', 'fetched'], 'application/yaml'])
  assert.ok(answers.names.includes('fetched'))
  await lane(page, 'fetch').first().waitFor()
  await page.locator('.entry .line', { hasText: /^› stop/ }).waitFor() // the watch was cancelled
  await context.close()
})

test('an article shows one command, its answer and its timeline in an <iframe>', async () => {
  const { context, page, faults } = await it.open()
  await ready(page)
  await type(page, 'create configmap early')
  await type(page, 'get configmap early')
  await page.locator('.bar nav button', { hasText: 'Share' }).click()
  await page.waitForFunction(() => document.getElementById('embed')?.value.includes('#v1.'))
  const iframe = await page.locator('#embed').inputValue()
  const src = /src="([^"]+)"/.exec(iframe)[1].replaceAll('&amp;', '&')
  const article = await it.open({ viewport: { width: 700, height: 480 } }, src)
  await article.page.waitForFunction(() => document.getElementById('command')?.value === 'get configmap early')
  await article.page.locator('.entry').nth(1).waitFor()
  await article.page.locator('#command').press('Enter')
  await says(article.page, /200/)
  assert.deepEqual(await article.page.locator('.bar, .guide, [role=tablist]').evaluateAll(all => all.map(one => one.outerHTML.slice(0, 99))), [])
  assert.match(await article.page.locator('.whole').getAttribute('href'), /\/#v1/)
  const bare = await it.open({}, `${it.host.url}?embed=create+configmap+a`)
  await bare.page.locator('#command').press('Enter')
  await says(bare.page, /201/)
  assert.deepEqual([...faults, ...article.faults, ...bare.faults], [])
  for (const one of [context, article.context, bare.context]) await one.close()
})

test('the link that a failed go test prints opens its run', async () => {
  const scenario = '# a conflict\n\nrequest POST /api/v1/namespaces/default/configmaps --as op -f w1.json -H \'Content-Type: application/json\'\ntick 1.5s\n'
    + '\n-- w1.json --\n{"metadata": {"name": "told"}}\n'
  const link = `#v1.dev.${deflateRawSync(JSON.stringify({ scenario })).toString('base64url')}` // the format of campaign.Link
  const { context, page, faults } = await it.open({}, it.host.url + link)
  await ready(page)
  await page.locator('.entry', { hasText: '201 Created configmap/told' }).waitFor()
  await lane(page, 'op').waitFor()
  assert.equal(await page.locator('.banner').count(), 0)
  assert.deepEqual(faults, [])
  await context.close()
})
