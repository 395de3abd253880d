// Every lesson can be solved in the page with the keyboard alone: the test selects it, answers its questions and types its solution (from
// sim/lesson/data). The engine checks it.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { ready, tabTo, type } from './browser.mjs'
import { hosted } from './hosted.mjs'

const data = new URL('../../sim/lesson/data/', import.meta.url).pathname
const lessons = readFileSync(`${data}order.txt`, 'utf8').split('\n').map(line => line.trim()).filter(line => line && !line.startsWith('#'))

// steps returns the parts of a lesson.yaml that the test needs: the solution of each step, and whether it asks a question.
function steps(id) {
  const found = []
  let inSolution = false
  for (const line of readFileSync(`${data}${id}/lesson.yaml`, 'utf8').split('\n')) {
    if (/^ {2}- say:/.test(line)) found.push({ asks: false, solution: [] })
    if (/^ {4}predict:/.test(line)) found.at(-1).asks = true
    if (/^ {4}\S/.test(line)) inSolution = /^ {4}solution:/.test(line)
    const item = inSolution ? /^ {6}- (.*)$/.exec(line)?.[1] : undefined
    if (item) found.at(-1).solution.push(unquote(item))
  }
  return found
}

function unquote(item) {
  if (item.startsWith('"')) return JSON.parse(item)
  return item.startsWith("'") ? item.slice(1, -1).replaceAll("''", "'") : item
}

const it = hosted()
const step = page => page.locator('.guide .eyebrow').innerText()
let opened = null // the lessons run one after the other in the same page; after a failure the next one opens a new page

for (const id of lessons) {
  test(`lesson ${id}, by keyboard`, async () => {
    const goOn = opened !== null
    const { page, faults } = opened ?? await it.open()
    opened = null
    await choose(page, id, goOn)
    await page.locator(`.guide[data-lesson="${id}"]`).waitFor()
    for (const { asks, solution } of steps(id)) {
      if (asks) await answer(page)
      const before = await step(page)
      for (const line of solution) await type(page, await live(page, line))
      if (solution.length > 0) {
        await page.waitForFunction(was => document.querySelector('.guide .eyebrow')?.textContent !== was, before)
      }
    }
    assert.equal(await step(page), 'Lesson finished')
    assert.deepEqual(faults, [])
    opened = { page, faults }
  })
}

// choose goes to a lesson: from the end of the one before it, or on the map.
async function choose(page, id, goOn) {
  if (goOn) {
    await tabTo(page, '.done .primary', 'Shift+Tab')
    await page.keyboard.press('Enter')
    return
  }
  await ready(page)
  await tabTo(page, '.bar nav button')
  await page.keyboard.press('Enter')
  await page.locator('dialog .catalogue').waitFor()
  for (let i = 0; i <= lessons.indexOf(id); i++) await tabToNext(page)
  await page.keyboard.press('Enter')
  await page.locator('dialog').waitFor({ state: 'detached' })
}

// live is a line of a solution with the values that the page shows: in the text of the step, or in its hints.
async function live(page, line) {
  const [beginning, rest] = line.split('{{')
  if (rest === undefined) return line
  const shown = async () => (await page.locator('.guide .line').allInnerTexts()).find(text => text.startsWith(beginning))
  for (let hints = 0; !(await shown()); hints++) {
    assert.ok(hints < 2, `${line} is neither in the text nor in the hints`)
    const before = await page.locator('.hints .prose').count()
    await tabTo(page, '.hints .more', 'Shift+Tab')
    await page.keyboard.press('Enter')
    await page.locator('.hints .prose').nth(before).waitFor()
  }
  return shown()
}

async function tabToNext(page) {
  await page.keyboard.press('Tab')
  await tabTo(page, 'dialog .lesson')
}

async function answer(page) {
  await page.locator('.question').waitFor()
  await tabTo(page, '.question input', 'Shift+Tab')
  await page.keyboard.press(' ')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.locator('.question').waitFor({ state: 'detached' })
}
