// Courses: a teacher creates a list of lessons, a learner opens its link and solves them in order, and the page checks the learner's code
// by running the lines again, without a server.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { violations } from './axe.mjs'
import { closeDialog, ready } from './browser.mjs'
import { hosted } from './hosted.mjs'

const it = hosted()

async function openCourses(page) {
  await ready(page)
  await page.locator('.bar nav button', { hasText: 'Lessons' }).click()
  await page.locator('dialog button', { hasText: 'Courses' }).click()
}

// make creates a course of two lessons and returns its link. It enters title and lessons before the page is rendered again.
async function make(page) {
  await openCourses(page)
  await page.locator('#course-add option[value="names"]').waitFor({ state: 'attached' }) // the lessons are listed when the catalogue is loaded
  await page.evaluate(() => {
    for (const [id, value, event] of [['course-title', 'Monday', 'input'], ['course-add', 'edit', 'change'], ['course-add', 'names', 'change']]) {
      document.getElementById(id).value = value
      document.getElementById(id).dispatchEvent(new Event(event, { bubbles: true }))
    }
  })
  await page.locator('#course-link').waitFor()
  await page.waitForFunction(() => document.querySelector('#course-link').value.includes('#v1.'))
  return page.locator('#course-link').inputValue()
}

// solve finishes a lesson with its own solutions.
async function solve(page) {
  while (!(await page.locator('.guide .done').count())) {
    const before = await page.locator('.guide .eyebrow').innerText()
    await page.locator('.hints button', { hasText: 'Show me' }).click()
    await page.waitForFunction(was => document.querySelector('.guide .eyebrow')?.textContent !== was, before)
  }
}

test('a course is created, solved in order, and its code is checked in the page', async () => {
  const { context, page, faults } = await it.open()
  const link = await make(page)
  await page.locator('dialog button', { hasText: 'Copy' }).waitFor()
  assert.deepEqual(await violations(page), [])
  const learner = await it.open({}, link)
  await ready(learner.page)
  await learner.page.locator('dialog .course', { hasText: '0 of 2 lessons done' }).waitFor()
  await learner.page.locator('dialog .course .primary', { hasText: 'Edit, and a conflict' }).click()
  await learner.page.locator('.guide[data-lesson="edit"]').waitFor()
  await solve(learner.page)
  await learner.page.locator('.guide .done .primary', { hasText: 'Next lesson of the course' }).click()
  await learner.page.locator('.guide[data-lesson="names"]').waitFor()
  await solve(learner.page)
  await learner.page.reload() // the progress is kept
  await ready(learner.page)
  await openCourses(learner.page)
  await learner.page.locator('dialog .course', { hasText: '2 of 2 lessons done' }).waitFor()
  await learner.page.waitForFunction(() => document.querySelector('#code')?.value.includes('#v1.'))
  const nameless = await learner.page.locator('#code').inputValue()
  await learner.page.locator('dialog .course label', { hasText: 'Your name' }).locator('input').fill('Ada')
  await learner.page.waitForFunction(was => document.querySelector('#code').value !== was, nameless) // the code is computed after the next rendering
  const before = await learner.page.locator('#code').inputValue()
  assert.deepEqual(learner.faults, [])
  await learner.context.close()

  const begun = await page.evaluate(() => performance.now())
  await page.locator('dialog summary', { hasText: 'Check the code' }).click()
  await page.locator('#check-code').fill(before)
  await page.locator('.checked', { hasText: 'Monday: Ada' }).waitFor()
  assert.equal(await page.locator('.checked b').innerText(), '2 of 2 lessons solved')
  const asked = await page.evaluate(since => performance.getEntriesByType('resource').filter(({ startTime }) => startTime > since).map(({ name }) => name), begun)
  assert.deepEqual(asked.filter(url => !url.startsWith(it.host.url) || !/\/(assets|engine)\//.test(url)), []) // files of the page, which its service worker has
  assert.equal(await page.locator('.checked li', { hasText: /solved, \d+ requests/ }).count(), 2)
  assert.deepEqual(await violations(page), [])
  await page.locator('.checked button', { hasText: 'Close' }).click()
  await page.locator('#check-code').fill('nonsense')
  await page.locator('dialog label .bad').waitFor()
  await closeDialog(page)
  assert.deepEqual(faults, [])
  await context.close()
})

test('a course without a title has the title of its first lesson, and a file that is not a course is reported', async () => {
  const { context, page, faults } = await it.open()
  await openCourses(page)
  await page.locator('#course-add option[value="names"]').waitFor({ state: 'attached' })
  await page.locator('.inside input[type=file]').setInputFiles(new URL(import.meta.url).pathname) // which is not JSON
  await page.locator('label .bad', { hasText: 'This is not the code of a course.' }).waitFor()
  await page.locator('#course-add').selectOption('edit')
  await page.waitForFunction(() => document.querySelector('#course-link')?.value.includes('#v1.'))
  const learner = await it.open({}, await page.locator('#course-link').inputValue())
  await learner.page.locator('dialog .course h3', { hasText: 'Edit, and a conflict' }).waitFor()
  assert.deepEqual([...faults, ...learner.faults], [])
  await learner.context.close()
  await context.close()
})

test('a code whose lines do not solve the lesson is not accepted', async () => {
  const { context, page } = await it.open()
  await ready(page)
  const forged = await page.evaluate(async () => {
    const work = { course: { course: { title: 'Forged', lessons: ['names'] }, name: 'Eve', done: [{ log: [{ line: 'get configmaps' }], answers: {} }] }, log: [] }
    const stream = new Blob([JSON.stringify(work)]).stream().pipeThrough(new CompressionStream('deflate-raw'))
    const bytes = new Uint8Array(await new Response(stream).arrayBuffer())
    return `v1.any.${btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')}`
  })
  const other = await it.open({}, `${it.host.url}#${forged}`) // the code is a link, too
  await other.page.locator('.checked', { hasText: '0 of 1 lesson solved' }).waitFor()
  await other.page.locator('.checked li', { hasText: 'not solved' }).waitFor()
  await other.context.close()
  await context.close()
})
