// The gallery of bugs that occurred in real projects: a scenario is played with its captions, which its link contains too.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lookAt } from './axe.mjs'
import { hash, ready, type } from './browser.mjs'
import { hosted } from './hosted.mjs'

const it = hosted()

test('a click opens a story with its captions, which leads to a lesson; its link contains the captions', async () => {
  const { context, page, faults } = await it.open()
  await ready(page)
  await page.locator('.bar nav button', { hasText: 'Bugs' }).click()
  await page.locator('dialog [data-story]').first().waitFor()
  assert.ok(await page.locator('dialog [data-story]').count() >= 29)
  assert.equal(await page.locator('dialog .plain li').count(), 21)
  await lookAt(page, 'the gallery')
  await page.locator('dialog [data-story="intermediate_revision"]').click()
  await page.locator('.guide h2', { hasText: 'A lost answer, paid twice' }).waitFor()
  assert.equal(await page.locator('.guide a', { hasText: '#6837' }).getAttribute('href'), 'https://github.com/cert-manager/cert-manager/issues/6837')
  await page.locator('.caption .primary').waitFor()
  await page.locator('.caption button[aria-label="The part before"]').click()
  const told = await page.locator('.caption p').first().innerText()
  assert.ok(told.length > 20, told)
  await lookAt(page, 'a story')
  const { link } = await hash(page)
  await type(page, 'list configmaps')
  await page.locator('.guide h2', { hasText: 'A lost answer' }).waitFor()
  assert.deepEqual(faults, [])
  await context.close()

  const other = await it.open({}, link)
  await ready(other.page)
  await other.page.locator('.guide h2', { hasText: 'A lost answer, paid twice' }).waitFor()
  await other.page.locator('.caption .primary').click()
  await other.page.locator('.guide[data-lesson="names"]').waitFor()
  assert.deepEqual(other.faults, [])
  await other.context.close()
})
