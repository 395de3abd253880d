// The map of the lessons, and users' lessons: written, checked, shared as a link, and opened by another user.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { violations } from './axe.mjs'
import { hash, ready, says, type } from './browser.mjs'
import { hosted } from './hosted.mjs'

const it = hosted()

async function openMap(options) {
  const opened = await it.open(options)
  await ready(opened.page)
  await opened.page.locator('.bar nav button', { hasText: 'Lessons' }).click()
  await opened.page.locator('dialog .lesson').first().waitFor()
  return opened
}

async function openBuilder(options) {
  const opened = await openMap(options)
  await opened.page.locator('dialog button', { hasText: 'Write a lesson' }).click()
  await opened.page.locator('.verdict', { hasText: 'It can be solved' }).waitFor()
  await opened.page.locator('.editor .cm-content').waitFor()
  return opened
}

// write replaces the contents of the editor.
async function write(page, content) {
  await page.locator('.editor .cm-content').click()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText(content)
}

const lesson = `id: mine
title: <b>Mine</b>
about: Something.
steps:
- say: a
  text: "<img src=x onerror=alert(1)> Create a, after {{revision}}."
  check: [configmaps/a exists]
  hint: [One., create configmap a]
  solution: [create configmap a]
- say: end
  text: Done.
`

test('the map shows which lessons build on which and which are solved, and the arrow keys move in it', async () => {
  const { context, page, faults } = await openMap()
  const card = id => page.locator(`dialog .lesson[data-lesson="${id}"]`)
  assert.equal(await page.locator('dialog .map section').count(), 10)
  assert.match(await card('list-watch').innerText(), /builds on “One number for everything”/)
  assert.ok(await card('list-watch').evaluate(element => element.classList.contains('later')))
  await page.waitForFunction(() => document.querySelectorAll('.maplines path').length >= 35) // drawn after the cards
  await card('first').focus()
  await page.keyboard.press('ArrowRight')
  assert.equal(await page.evaluate(() => document.activeElement.dataset.lesson), 'paths')
  await page.waitForFunction(() => document.querySelector('.maplines .near')) // drawn in the next animation frame
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('Enter')
  await page.locator('.guide .dots').waitFor()
  for (let step = 1; step < 5; step++) {
    await page.locator('.guide .eyebrow', { hasText: `Step ${step} of 5` }).waitFor()
    await page.locator('.hints button', { hasText: 'Show me' }).click()
  }
  await page.locator('.guide .eyebrow', { hasText: 'Lesson finished' }).waitFor()
  await page.locator('.bar nav button', { hasText: 'Lessons' }).click()
  await page.locator('dialog .lesson.solved[data-lesson="first"]').waitFor()
  assert.match(await page.locator('dialog h3', { hasText: 'Basics' }).innerText(), /1 of 2/)
  assert.ok(await card('list-watch').evaluate(element => element.classList.contains('open')))
  assert.deepEqual(faults, [])
  await context.close()
})

test('on a phone the map is a list', async () => {
  const { context, page } = await openMap({ viewport: { width: 390, height: 844 } })
  assert.equal(await page.locator('.maplines').isVisible(), false)
  const left = await page.locator('dialog .lesson').evaluateAll(cards => [...new Set(cards.map(card => Math.round(card.getBoundingClientRect().left)))])
  assert.equal(left.length, 1)
  assert.equal(await page.locator('dialog .lesson[data-lesson="list-watch"] .needs').isVisible(), true)
  await context.close()
})

test('a lesson is written, its errors are shown at their lines, and another user opens its link', async () => {
  const { context, page, faults } = await openBuilder()
  await write(page, lesson.replace('configmaps/a exists', 'configmaps a b'))
  await page.locator('.verdict .bad', { hasText: 'Line 7:' }).waitFor()
  await page.locator('.editor .cm-refused').waitFor()
  await write(page, lesson.replace('solution: [create configmap a]', 'solution: [create configmap b]'))
  await page.locator('.verdict .bad', { hasText: 'Its own solution does not pass step 1: configmaps/a exists' }).waitFor()
  await write(page, lesson)
  await page.locator('.verdict', { hasText: 'It can be solved: its own solutions pass all of its 2 steps.' }).waitFor()
  assert.match(await page.locator('.preview li').first().innerText(), /<img src=x onerror=alert\(1\)> Create a, after \d+\./)
  assert.deepEqual(await violations(page), [])
  await page.locator('dialog button', { hasText: 'Copy link' }).click()
  await page.locator('#lesson-link').waitFor()
  const link = await page.locator('#lesson-link').inputValue()
  await page.locator('dialog button', { hasText: 'Take it' }).click()
  await page.locator('.guide .note', { hasText: 'the lesson that you are writing' }).waitFor()
  assert.deepEqual(faults, [])
  await context.close()

  const other = await it.open({}, link)
  await ready(other.page)
  await other.page.locator('.guide .note', { hasText: 'its content has not been checked' }).waitFor()
  assert.equal(await other.page.locator('.guide h2').innerText(), '<b>Mine</b>')
  assert.match(await other.page.locator('.guide .prose').first().innerText(), /<img src=x/)
  assert.equal(await other.page.locator('.guide img, .guide h2 b').count(), 0)
  await type(other.page, 'create configmap a')
  await other.page.locator('.guide .eyebrow', { hasText: 'Lesson finished' }).waitFor()
  const now = await hash(other.page)
  await other.page.waitForFunction(link => location.href === link, now.link)
  await other.page.reload() // the address contains the lesson and the progress in it
  await ready(other.page)
  await other.page.locator('.guide .eyebrow', { hasText: 'Lesson finished' }).waitFor()
  await other.page.locator('.guide .note button', { hasText: 'View its source' }).click()
  await other.page.locator('.verdict', { hasText: 'It can be solved' }).waitFor()
  assert.deepEqual(other.faults, [])
  await other.context.close()
})

test('a kubectl line of a shared lesson is a button, and a long line does not widen the editor', async () => {
  const { context, page, faults } = await openBuilder({ viewport: { width: 1280, height: 720 } })
  await write(page, lesson.replace('Create a, after {{revision}}.', 'Run `kubectl get configmaps`, then create a.')
    .replace('about: Something.', `about: ${'long '.repeat(80)}`).replaceAll('<img src=x onerror=alert(1)> ', ''))
  await page.locator('.verdict', { hasText: 'It can be solved' }).waitFor()
  const { right } = await page.locator('.builder .editing').evaluate(editor => editor.getBoundingClientRect())
  const editor = await page.locator('.builder .cm-editor').evaluate(editor => editor.getBoundingClientRect().right)
  assert.ok(editor <= right + 1, `the editor ends at ${editor}, its pane at ${right}`)
  await page.locator('dialog button', { hasText: 'Take it' }).click()
  await page.locator('.guide button.line', { hasText: 'kubectl get configmaps' }).click()
  await page.waitForFunction(() => document.getElementById('command').value === 'kubectl get configmaps')
  await page.locator('#command').press('Enter')
  await says(page, /kube-root-ca|No resources/)
  await type(page, 'create configmap a')
  await page.locator('.guide .done', { hasText: "2 requests; the lesson's own solution sends 1" }).waitFor()
  assert.deepEqual(faults, [])
  await context.close()
})

test('a link with an invalid lesson is refused with a message', async () => {
  const { deflateRawSync } = await import('node:zlib')
  const packed = deflateRawSync(Buffer.from(JSON.stringify({ own: 'id: x', log: [] }))).toString('base64url')
  const { context, page, faults } = await it.open({}, `${it.host.url}#v1.dev.${packed}`)
  await ready(page)
  await page.locator('.banner', { hasText: 'id, title and about are required' }).waitFor()
  await type(page, 'create configmap a') // the page still works
  assert.deepEqual(faults, [])
  await context.close()
})

test('the editor completes conditions and commands at the cursor, and the engine parses all conditions of the reference', async () => {
  const { context, page, faults } = await openBuilder()
  await write(page, lesson.replace('check: [configmaps/a exists]', 'check: [configmaps/a ex'))
  await page.keyboard.press('Control+Home')
  for (let i = 0; i < 6; i++) await page.keyboard.press('ArrowDown')
  await page.keyboard.press('End')
  await page.keyboard.insertText('i')
  await page.locator('.suggestions button', { hasText: /^exists$/ }).waitFor()
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('ArrowLeft')
  await page.locator('.suggestions button', { hasText: /^exists$/ }).click() // takes the place of "e", which is before the cursor now
  await page.locator('.cm-line', { hasText: 'configmaps/a existsxi' }).waitFor()
  await page.keyboard.press('Delete')
  await page.keyboard.press('Delete')
  await page.keyboard.insertText(']')
  await page.locator('.verdict', { hasText: 'It can be solved' }).waitFor()
  await page.locator('.reference summary').click()
  const forms = await page.locator('.reference li button').allInnerTexts()
  assert.ok(forms.length >= 12)
  await write(page, lesson.replace('  check:', `  needs:\n${forms.map(form => `  - ${form}\n`).join('')}  check:`))
  await page.locator('.verdict .bad', { hasText: /watch|informer|status/ }).waitFor() // they are parsed, but not all of them hold
  assert.doesNotMatch(await page.locator('.verdict').innerText(), /column|unknown|yaml/)
  await write(page, lesson.replace('check: [configmaps/a exists]', 'check: []'))
  await page.locator('.verdict .bad').waitFor()
  assert.deepEqual(faults, [])
  await context.close()
})

test('every template of the editor can be solved', async () => {
  const { context, page, faults } = await openBuilder()
  const names = await page.locator('.builder ~ .split select option:not([disabled])').allInnerTexts()
  assert.equal(names.length, 3)
  for (const [i, title] of ['My first lesson', 'Two writers', 'A Deployment heals'].entries()) {
    await page.locator('.builder ~ .split select').selectOption(String(i))
    await page.locator('.builder h3, .builder h2, .builder b', { hasText: title }).first().waitFor()
    await page.locator('.verdict', { hasText: 'It can be solved' }).waitFor()
  }
  assert.deepEqual(faults, [])
  await context.close()
})
