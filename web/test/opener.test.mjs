// The opening story: it plays at reading speed, can be stepped through and replayed, and ends with a question.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ready, tabTo } from './browser.mjs'
import { hosted } from './hosted.mjs'

const it = hosted()
const caption = page => page.locator('.caption p:not(.eyebrow)').first().innerText()

test('the story can be stepped through by keyboard, and ends with a question that leads to a lesson', async () => {
  const { context, page, faults } = await it.open()
  await ready(page)
  await page.locator('.caption .steps', { hasText: '5 of 5' }).waitFor()
  for (let i = 0; i < 4; i++) await page.locator('.caption button[aria-label="The part before"]').click()
  await page.locator('.caption .steps', { hasText: '1 of 5' }).waitFor()
  assert.match(await caption(page), /one rule/)
  await tabTo(page, '.caption button[aria-label="The next part"]')
  for (let i = 0; i < 4; i++) await page.keyboard.press('Enter')
  await page.locator('.caption button', { hasText: 'A faster cache' }).click()
  await page.locator('.caption [role=status]', { hasText: 'rarer' }).waitFor()
  await page.locator('.caption button', { hasText: 'derived from the app' }).click()
  await page.locator('.caption button', { hasText: 'Try it in the lesson' }).click()
  await page.locator('.guide[data-lesson="double"]').waitFor()
  assert.deepEqual(faults, [])
  await context.close()
})

test('at 1280×720 the question and all its answers are in view, and so is the explanation of a chosen one', async () => {
  const { context, page } = await it.open({ viewport: { width: 1280, height: 720 } })
  await ready(page)
  await page.locator('.caption .steps', { hasText: '5 of 5' }).waitFor()
  const below = last => page.waitForFunction(selector => [...document.querySelectorAll(selector)].every(part => part.getBoundingClientRect().bottom <= innerHeight), last)
  await page.locator('.caption .chips button').first().waitFor()
  await below('.caption .chips button')
  await page.locator('.caption button', { hasText: 'A faster cache' }).click()
  await page.locator('.caption [role=status]', { hasText: 'rarer' }).waitFor()
  await below('.caption [role=status], .caption .primary')
  await context.close()
})
