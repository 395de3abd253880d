// The page in Firefox and in WebKit: it opens, plays, runs a lesson by keyboard, undoes, has controllers, words on its lanes, a
// curtain, two servers side by side, fetches of the browser, an article's frame; and its policy is not violated.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findFirefox, findWebKit } from './find.mjs'
import { firefox } from './firefox.mjs'
import { serve } from './server.mjs'
import { webkit } from './webkit.mjs'

const browsers = [
  { name: 'Firefox', path: findFirefox(), start: firefox, missing: 'there is no Firefox (apt-get install firefox-esr)' },
  { name: 'WebKit', path: findWebKit(), start: webkit, missing: 'there is no WebKit (apt-get install webkit2gtk-driver xvfb)' },
]
const enter = '\uE007'
const right = '\uE014'

for (const { name, path, start, missing } of browsers) {
  test(`the page in ${name}`, { skip: path ? false : missing, timeout: 600_000 }, async () => {
    const host = await serve()
    const page = await start(path)
    try {
      await lesson(page, host)
      await world(page)
      await servers(page)
      assert.deepEqual(await page.run(() => window.faults), [])
      await article(page, host)
    } finally {
      await page.close()
      await host.stop()
    }
  })
}

// WebKit takes the focus only once what is new has been laid out.
const focus = (page, selector) => page.until(of => {
  const one = document.querySelector(of)
  one?.focus()
  return one !== null && document.activeElement === one
}, selector)

async function type(page, line) {
  await focus(page, '#command')
  await page.keys(line + enter)
  await page.until(wanted => [...document.querySelectorAll('.entry .line')].some(one => one.textContent.includes(wanted)), line)
}

const shows = (page, selector, text) => page.until((of, wanted) => [...document.querySelectorAll(of)].some(one => one.textContent.includes(wanted)), selector, text)

async function press(page, selector, text) {
  await shows(page, selector, text)
  await page.run((of, wanted) => { [...document.querySelectorAll(of)].find(one => one.textContent.includes(wanted)).click() }, selector, text)
}

async function lesson(page, host) {
  await page.go(host.url)
  await page.run(() => {
    window.faults = []
    addEventListener('securitypolicyviolation', event => window.faults.push(`policy: ${event.violatedDirective}`))
    addEventListener('error', event => window.faults.push(event.message))
  })
  await page.until(() => /in this page/.test(document.querySelector('.engine')?.textContent))
  await page.until(() => document.querySelectorAll('.mark').length > 10) // the opening
  await page.until(() => document.querySelector('.guide .primary[aria-disabled="true"]') === null)
  await press(page, '.guide .primary', '')
  await page.until(() => document.querySelector('.guide[data-lesson="first"]') !== null)
  await type(page, 'create configmap pant --from-literal color=red')
  await shows(page, '.astray', 'created configmaps default/pant')
  await page.run(() => document.getElementById('command').dispatchEvent(new KeyboardEvent('keydown', { key: 'z', ctrlKey: true, bubbles: true })))
  await page.until(() => document.querySelector('.entry.undone') !== null && document.querySelector('.astray') === null)
  await type(page, 'create configmap paint --from-literal color=red')
  await page.until(() => document.querySelector('.guide .eyebrow').textContent === 'Step 2 of 5')
  assert.equal(await page.run(() => document.querySelectorAll('.mark[tabindex="0"]').length), await page.run(() => document.querySelectorAll('.labels li').length - 1))
  await page.run(() => document.getElementById('tab-objects').click())
  await shows(page, 'table button.row', 'paint')
  await press(page, 'table button.row', 'paint')
  await page.until(() => document.querySelector('.editor')?.shadowRoot?.textContent.includes('color: red') ?? false)
}

async function world(page) {
  await page.run(() => document.getElementById('tab-console').click())
  await press(page, '.bar nav button', 'Lessons')
  await press(page, 'dialog button', 'Free play')
  await shows(page, '.guide h2', 'Free play')
  await type(page, 'apply -f deployment.yaml')
  await page.until(() => document.querySelectorAll('.mark[data-kind="reconcile"]').length > 2)
  await focus(page, '[data-lane="replica/1"]')
  await page.keys(enter)
  await shows(page, '.words button', 'lag 1')
  await press(page, '.words button', 'lag 1')
  await shows(page, '.labels li', 'lagging')
  await press(page, '.words button', 'resume 1')
  await focus(page, '.handle')
  await page.keys(right)
  await page.keys(enter)
  await page.until(() => document.querySelector('.curtain') !== null)
  await page.until(() => navigator.serviceWorker?.controller != null)
  await page.run(() => { fetch('/api/v1/namespaces').then(answer => answer.json()).then(list => { window.fetched = list.items.map(one => one.metadata.name) }) })
  await page.until(() => window.fetched?.includes('kube-system') ?? false)
}

async function servers(page) {
  await page.run(() => document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 's', bubbles: true })))
  await page.until(() => document.querySelector('dialog[open]') !== null)
  await press(page, 'dialog button.lesson', 'Lag')
  await shows(page, '.labels li', 'server 2')
  await page.run(() => document.getElementById('tab-objects').click())
  await shows(page, 'table button.row', 'fresh')
  await press(page, 'table button.row', 'fresh')
  await page.until(() => document.querySelector('.detail .forms') !== null)
  await press(page, '.detail .forms button', 'Servers')
  await shows(page, '.skew th', 'does not have it')
}

async function article(page, host) {
  await page.go(`${host.url}?embed=create+configmap+a`)
  await page.until(() => document.getElementById('command')?.value === 'create configmap a' && document.querySelector('.mark, .labels') !== null)
  await page.until(() => document.querySelector('.command .primary').getAttribute('aria-disabled') !== 'true')
  await focus(page, '#command')
  await page.keys(enter)
  await shows(page, '.entry', '201')
}
