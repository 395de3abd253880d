// The page in Firefox: it opens, plays, runs a lesson by keyboard, undoes, and its policy is not violated.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findFirefox } from './find.mjs'
import { firefox } from './firefox.mjs'
import { serve } from './server.mjs'

const path = findFirefox()
const enter = '\uE007'

test('the page in Firefox', { skip: path ? false : 'there is no Firefox (apt-get install firefox-esr)' }, async () => {
  const host = await serve()
  const page = await firefox(path)
  const type = async line => {
    await page.run(() => document.getElementById('command').focus())
    await page.keys(line + enter)
    await page.until(wanted => [...document.querySelectorAll('.entry .line')].some(one => one.textContent.includes(wanted)), line)
  }
  try {
    await page.go(host.url)
    await page.run(() => {
      window.faults = []
      addEventListener('securitypolicyviolation', event => window.faults.push(`policy: ${event.violatedDirective}`))
      addEventListener('error', event => window.faults.push(event.message))
    })
    await page.until(() => /in this page/.test(document.querySelector('.engine')?.textContent))
    assert.ok(await page.run(() => document.querySelectorAll('.mark').length) > 20, 'the opening is there')
    await page.run(() => document.querySelector('.guide .primary').focus())
    await page.keys(enter)
    await page.until(() => document.querySelector('.guide[data-lesson="first"]') !== null)
    await type('create configmap pant --from-literal color=red')
    await page.until(() => document.querySelector('.astray')?.textContent.includes('created configmaps default/pant'))
    await page.run(() => document.getElementById('command').dispatchEvent(new KeyboardEvent('keydown', { key: 'z', ctrlKey: true, bubbles: true })))
    await page.until(() => document.querySelector('.entry.undone') !== null && document.querySelector('.astray') === null)
    await type('create configmap paint --from-literal color=red')
    await page.until(() => document.querySelector('.guide .eyebrow').textContent === 'Step 2 of 5')
    assert.equal(await page.run(() => document.querySelectorAll('.mark[tabindex="0"]').length), await page.run(() => document.querySelectorAll('.labels li').length - 1))
    await page.run(() => document.getElementById('tab-objects').click())
    await page.until(() => [...document.querySelectorAll('table button.row')].some(one => one.textContent === 'paint'))
    await page.run(() => [...document.querySelectorAll('table button.row')].find(one => one.textContent === 'paint').click())
    await page.until(() => document.querySelector('.editor')?.shadowRoot?.textContent.includes('color: red') ?? false)
    assert.deepEqual(await page.run(() => window.faults), [])
  } finally {
    await page.close()
    await host.stop()
  }
})
