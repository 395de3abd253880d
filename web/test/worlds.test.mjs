// Unexpected actions in a lesson, and the state that the page keeps: steps, answers, drafts, worlds.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { closeDialog, freePlay, hash, ready, says, tabTo, takeLesson, type } from './browser.mjs'
import { hosted } from './hosted.mjs'

const it = hosted()

async function firstLesson(options) {
  const opened = await it.open(options)
  await ready(opened.page)
  await takeLesson(opened.page, 'first')
  return opened
}

const frame = page => page.locator('.scrub').inputValue()

test('an action that a step did not ask for is named and can be undone', async () => {
  const { context, page, faults } = await firstLesson()
  await type(page, 'create configmap pant --from-literal color=red')
  await page.locator('.astray', { hasText: 'created configmaps default/pant' }).waitFor()
  assert.equal(await page.locator('.astray.broken').count(), 0, 'the lesson can still be solved')
  await page.locator('.astray button', { hasText: 'Undo that' }).click()
  await page.locator('.astray').waitFor({ state: 'detached' })
  await page.locator('#command').fill('create configmap paint --from-literal color=red') // replaces the line that was undone
  await page.locator('#command').press('Enter')
  await page.locator('.guide .eyebrow', { hasText: 'Step 2' }).waitFor()
  assert.match(await page.locator('.guide .prose').innerText(), /paint is at revision 4008/)
  await type(page, 'delete configmap paint')
  await page.locator('.astray.broken', { hasText: 'delete configmap paint' }).waitFor()
  await page.locator('.astray button', { hasText: 'Restart this step' }).click()
  await page.locator('.astray').waitFor({ state: 'detached' })
  await page.locator('.guide .eyebrow', { hasText: 'Step 2' }).waitFor()
  assert.deepEqual(faults, [])
  await context.close()
})

test('neither Play nor stepping forward changes the world in a lesson', async () => {
  const { context, page } = await firstLesson()
  const before = await hash(page)
  const [end, clock] = [await frame(page), await page.locator('.clock time').innerText()]
  await page.locator('.transport .main').click()
  await page.waitForFunction(n => document.querySelector('.scrub').value !== n, end)
  await page.locator('.controls select').selectOption('10')
  await page.waitForFunction(n => document.querySelector('.scrub').value === n, end)
  await page.locator('.transport .main[aria-label="Play"]').waitFor()
  await page.locator('body').press('.')
  assert.deepEqual([(await hash(page)).sum, await page.locator('.clock time').innerText()], [before.sum, clock])
  await context.close()
})

test('a new step is announced; on a phone it scrolls into view and gets the focus', async () => {
  const { context, page } = await firstLesson({ viewport: { width: 390, height: 700 } })
  await type(page, 'create configmap paint --from-literal color=red')
  await page.waitForFunction(() => document.activeElement?.matches('.guide h2'))
  const { top } = await page.locator('.guide h2').evaluate(h2 => h2.getBoundingClientRect())
  assert.ok(top >= 0 && top < 350, `the step begins at ${top} px`)
  assert.match(await page.locator('.guide .heard').innerText(), /Step 2 of 5\. paint is at revision/)
  await context.close()
})

test('the reason is shown for a wrong prediction, and a reload keeps answers, transcript and step', async () => {
  const { context, page, faults } = await firstLesson()
  await type(page, 'create configmap paint --from-literal color=red')
  await page.locator('.question input').nth(1).check()
  await page.locator('.question button').click()
  await page.locator('.question').waitFor({ state: 'detached' })
  await type(page, `patch configmap paint -p '{"data":{"color":"blue"}}'`)
  await page.locator('.graded.wrong', { hasText: "Alice's Secret took 4009" }).waitFor()
  const told = await page.locator('.transcript').textContent()
  assert.match(told, /201/)
  const { link } = await hash(page)
  await page.waitForFunction(l => location.href === l, link)
  await page.reload()
  await ready(page)
  await page.locator('.graded.wrong', { hasText: "Alice's Secret took 4009" }).waitFor()
  assert.equal(await page.locator('.transcript').textContent(), told)
  assert.deepEqual(faults, [])
  await context.close()
})

test('the back button returns from a lesson to the world before it', async () => {
  const { context, page } = await firstLesson()
  await type(page, 'create configmap paint --from-literal color=red')
  await page.locator('.bar nav button', { hasText: 'Lessons' }).click()
  await page.locator('dialog .lesson[data-lesson="list-watch"]').click()
  await page.locator('.guide[data-lesson="list-watch"]').waitFor()
  const begun = await page.evaluate(() => location.href)
  await type(page, 'list configmaps')
  await page.waitForFunction(url => location.href !== url, begun)
  await page.goBack()
  await page.locator('.guide[data-lesson="first"] .eyebrow', { hasText: 'Step 2' }).waitFor()
  await page.locator('.entry', { hasText: 'create configmap paint' }).waitFor()
  await page.goForward()
  await page.locator('.guide[data-lesson="list-watch"] .eyebrow', { hasText: 'Step 2' }).waitFor()
  await context.close()
})

test('Ctrl+Z in an empty command line undoes an operation, otherwise it undoes typing', async () => {
  const { context, page } = await it.open()
  await ready(page)
  await type(page, 'create configmap one')
  await page.locator('#command').press('Control+z')
  await page.locator('.entry.undone').waitFor()
  await page.locator('#command').press('Control+Shift+z')
  await page.locator('.entry.undone').waitFor({ state: 'detached' })
  await page.locator('#command').pressSequentially('x')
  await page.locator('#command').press('Control+z')
  assert.equal(await page.locator('.entry.undone').count(), 0)
  await context.close()
})

test('a draft survives opening another object and a write by another client', async () => {
  const { context, page, faults } = await it.open()
  await ready(page)
  for (const name of ['a', 'b']) await type(page, `create configmap ${name} --from-literal k=1`)
  const open = async name => {
    await page.locator('table button.row', { hasText: new RegExp(`^${name}$`) }).click()
    await page.locator('.detail h2', { hasText: `default/${name}` }).waitFor()
    await page.locator('.editor .cm-content', { hasText: `name: ${name}` }).waitFor()
  }
  await page.locator('#tab-objects').click()
  await open('a')
  await page.locator('.editor .cm-content').click()
  await page.keyboard.press('Control+Home')
  await page.keyboard.insertText('# mine\n')
  await open('b')
  assert.doesNotMatch(await page.locator('.editor .cm-content').innerText(), /# mine/)
  await page.locator('#tab-console').click()
  await type(page, `patch configmap a -p '{"data":{"k":"2"}}' --as alice`)
  await page.locator('#tab-objects').click()
  await open('a')
  assert.match(await page.locator('.editor .cm-content').innerText(), /# mine/)
  await page.locator('.detail .note', { hasText: 'Your draft is based on revision' }).waitFor()
  await page.locator('.editing button', { hasText: 'Replace' }).click()
  await page.locator('.editing .bad', { hasText: 'has been modified' }).waitFor()
  await page.locator('.detail .note button', { hasText: 'Discard' }).click()
  await page.locator('.editor .cm-content', { hasText: 'k: "2"' }).waitFor()
  assert.deepEqual(faults, [])
  await context.close()
})

test('in the past, servers, clients, answers and marks are those of the past', async () => {
  const { context, page } = await it.open()
  await ready(page)
  await type(page, 'create configmap early --as dora')
  await type(page, 'lag 1')
  await type(page, 'create configmap later --as emil')
  await page.locator('#tab-actors').click()
  await page.locator('.cards', { hasText: 'lags' }).waitFor()
  await page.locator('.cards', { hasText: 'emil' }).waitFor()
  const last = Number(await frame(page))
  await page.locator('.scrub').fill(String(last - 5)) // before emil, and before the lag
  await page.locator('.cards', { hasText: 'up to date' }).waitFor()
  await page.locator('.cards', { hasText: 'emil' }).waitFor({ state: 'detached' })
  assert.doesNotMatch(await page.locator('.inspector').innerText(), /later/)
  await context.close()
})

test('a user who leaves the page while the engine is compiled, and comes back, gets the engine', async () => {
  const { context, page } = await it.open()
  for (let i = 0; i < 3; i++) {
    await page.waitForFunction(() => performance.getEntriesByName('received').length > 0)
    await page.goto(`${it.host.url}favicon.svg`)
    await page.goto(it.host.url)
  }
  await ready(page)
  await context.close()
})

test('adding a server rebuilds the world, and back returns to the previous one', async () => {
  const { context, page } = await it.open()
  await ready(page)
  await type(page, 'create configmap kept')
  await page.locator('#tab-actors').click()
  await page.locator('.actors button', { hasText: 'Add a server' }).click()
  await page.locator('.labels li', { hasText: 'server 2' }).waitFor()
  await page.locator('#tab-console').click()
  await type(page, 'get configmap kept --via 2')
  await says(page, /200/)
  await page.goBack()
  await page.locator('.labels li', { hasText: 'server 2' }).waitFor({ state: 'detached' })
  await context.close()
})

test('a rebuilt world keeps nodes, controllers and running pods, and undo restores the previous one', async () => {
  const { context, page, faults } = await it.open()
  await ready(page)
  await page.locator('.bar nav button', { hasText: 'Lessons' }).click()
  await page.locator('dialog button', { hasText: 'Free play' }).click()
  await page.locator('.guide h2', { hasText: 'Free play' }).waitFor()
  for (const line of ['kubectl run web --image=nginx', 'tick 10s']) await type(page, line)
  const { sum } = await hash(page)
  await page.locator('#tab-actors').click()
  await page.locator('.actors button', { hasText: 'Add a server' }).click()
  await page.locator('.banner', { hasText: 'Undo goes back' }).waitFor()
  await page.locator('.labels li', { hasText: 'server 2' }).waitFor()
  await page.locator('#tab-console').click()
  await type(page, 'kubectl get pods,nodes')
  await says(page, /pod\/web +1\/1 +Running[\s\S]*node-3 +Ready/)
  await page.locator('#command').press('Control+z') // removes the line
  await page.locator('#command').press('Control+z') // removes the server
  await page.locator('.labels li', { hasText: 'server 2' }).waitFor({ state: 'detached' })
  assert.equal((await hash(page)).sum, sum)
  await page.locator('body').press('s')
  await page.locator('dialog').waitFor()
  await page.keyboard.press('l')
  await page.locator('.entry', { hasText: 'list configmaps --rv 0 --via 2' }).waitFor()
  await type(page, 'kubectl get pods')
  await says(page, /web +1\/1 +Running/)
  assert.deepEqual(faults, [])
  await context.close()
})

const claim = `apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: Pod
metadata: {name: db}
spec:
  volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]
  containers: [{name: c, image: postgres, volumeMounts: [{name: v, mountPath: /v}]}]`

test('in free play a volume claim is bound and an Ingress gets an address, also in a world that a link restores', async () => {
  const { context, page, faults } = await it.open()
  await freePlay(page)
  await type(page, `printf '${claim.replaceAll('\n', '\\n')}\\n' > db.yaml`)
  for (const line of ['kubectl apply -f db.yaml', "kubectl create ingress web --rule='/=web:80'", 'tick 10s']) await type(page, line)
  await type(page, 'kubectl get pods,pvc,ingress')
  await says(page, /pod\/db +1\/1 +Running[\s\S]*persistentvolumeclaim\/data +Bound .* standard [\s\S]*ingress\S+\/web +kubesim +\* +\d+\.\d+/)
  const { sum, link } = await hash(page)
  await page.waitForFunction(l => location.href === l, link)
  await page.reload()
  await ready(page)
  assert.equal((await hash(page)).sum, sum)
  await type(page, 'kubectl get storageclasses')
  await says(page, /standard \(default\)/)
  assert.deepEqual(faults, [])
  await context.close()
})

test('lane names that begin alike can be distinguished', async () => {
  const { context, page } = await it.open()
  await ready(page)
  for (const end of ['alpha', 'beta']) await type(page, `watch configmaps --name the-watch-of-everything-that-there-is-${end}`)
  await page.locator('.labels .ending', { hasText: 'beta' }).waitFor() // the timeline follows the transcript
  const shown = await page.locator('.labels .ending').evaluateAll(all => all.filter(one => one.scrollWidth <= one.clientWidth + 1).map(one => one.textContent))
  assert.ok(shown.some(text => text.endsWith('alpha')) && shown.some(text => text.endsWith('beta')), shown.join())
  await context.close()
})

test('everything on the first screen is reachable with the keyboard, which can also start a lesson', async () => {
  const { context, page } = await it.open()
  await ready(page)
  await tabTo(page, '.guide .primary')
  await page.keyboard.press('Enter')
  await page.locator('.guide[data-lesson="pod"] .dots').waitFor() // the first of the list
  await page.locator('body').press('?')
  await closeDialog(page)
  await context.close()
})
