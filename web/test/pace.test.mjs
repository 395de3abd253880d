// The page in real time: the opening story at reading speed, the recording that plays while the engine loads, and the clock of free play.
// These tests mostly wait, so in Chromium they run at the same time, each in a page of its own.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { freePlay, ready, says, type } from './browser.mjs'
import { tested } from './find.mjs'
import { hosted } from './hosted.mjs'

const it = hosted()
const caption = page => page.locator('.caption p:not(.eyebrow)').first().innerText()

describe('with motion', { concurrency: tested() === 'chromium' ? 3 : 1 }, () => {
  test('each caption is shown as long as it takes to read, and the console shows only the lines of the story so far', async () => {
    const { context, page, faults } = await it.open({ reducedMotion: 'no-preference' })
    await page.locator('.caption .steps').waitFor()
    const first = await caption(page)
    const begun = Date.now()
    await page.waitForFunction(told => document.querySelector('.caption p:not(.eyebrow)')?.textContent !== told, first)
    const words = first.split(' ').length
    assert.ok(Date.now() - begun > words * 100, `${words} words were shown for ${Date.now() - begun} ms`)
    await ready(page)
    assert.doesNotMatch(await page.locator('.transcript').innerText(), /list pods/)
    await page.locator('.caption button', { hasText: 'Pause' }).click()
    const paused = await caption(page)
    await page.waitForTimeout(1500)
    assert.equal(await caption(page), paused)
    assert.deepEqual(faults, [])
    await context.close()
  })

  test('the recording plays while the engine loads, and the engine takes over with the same frames', async () => {
    let letGo
    const held = new Promise(resolve => { letGo = resolve })
    const host = await it.serve({ change: { files: /\/core-.*\.wasm$/, to: async bytes => { await held; return bytes } } })
    const { context, page } = await it.open({ reducedMotion: 'no-preference' }, host.url)
    await page.locator('.mark').first().waitFor()
    assert.match(await page.locator('.engine').innerText(), /recording/)
    assert.match(await page.locator('.guide').innerText(), /compared with a real kube-apiserver.*[0-9]{2},[0-9]{3} recorded steps/i)
    const frame = () => page.locator('.scrub').inputValue().then(Number)
    const early = await frame()
    await page.waitForFunction(n => Number(document.querySelector('.scrub').value) > n, early)
    letGo()
    await ready(page)
    const taken = await frame()
    assert.ok(taken < Number(await page.locator('.scrub').getAttribute('max')), 'the engine takes over at the same frame')
    await page.waitForFunction(() => document.querySelector('.scrub').value === document.querySelector('.scrub').max)
    assert.match(await page.locator('.caption').innerText(), /two pods/)
    assert.equal(await page.locator('.banner').count(), 0, 'no notice about a recording that differs')
    await context.close()
  })

  test('in free play the clock runs, and shows the next timer when it is stopped', async () => {
    const { context, page, faults } = await it.open({ reducedMotion: 'no-preference' })
    await freePlay(page)
    await type(page, 'kubectl run web --image=nginx')
    await page.locator('.entry.tick').first().waitFor()
    await page.waitForTimeout(3000)
    await type(page, 'kubectl get pods')
    await says(page, /web +1\/1 +Running/)
    await page.locator('.controls button[aria-label="Stop the clock"]').click()
    await page.locator('.controls button[aria-label="Let the clock run"]').waitFor()
    await type(page, 'kubectl run other --image=nginx')
    await page.locator('.foot', { hasText: 'due in 1s. Time stands still' }).waitFor()
    await page.locator('.foot button', { hasText: 'settle' }).click()
    await type(page, 'kubectl get pods')
    await says(page, /other +1\/1 +Running/)
    assert.deepEqual(faults, [])
    await context.close()
  })
})
