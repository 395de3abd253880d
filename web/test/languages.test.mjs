// The page in Chinese: it follows the browser's language, can be switched, remembers the choice, and translates everything except output of
// the server and of commands.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { violations } from './axe.mjs'
import { closeDialog, hash, ready, tabTo, takeLesson, type } from './browser.mjs'
import { hosted } from './hosted.mjs'

const it = hosted()
const running = page => page.locator('.engine', { hasText: '就在这个网页里' }).waitFor()
const lang = page => page.evaluate(() => document.documentElement.lang)

test('a browser that prefers Chinese gets a Chinese page, and a lesson can be finished in it', async () => {
  const { context, page, faults } = await it.open({ locale: 'zh-CN' })
  await running(page)
  assert.deepEqual([await lang(page), await page.title()], ['zh-CN', 'kubesim：网页里的 Kubernetes API 服务器'])
  await page.locator('.caption', { hasText: '控制器' }).waitFor()
  await takeLesson(page, 'first')
  await page.locator('.guide h2', { hasText: '一个数字管一切' }).waitFor()
  assert.equal(await page.locator('.guide .eyebrow').innerText(), '第 1 步，共 5 步')
  await type(page, 'create configmap paint --from-literal color=red')
  await page.locator('.guide .prose', { hasText: 'paint 位于修订版本 4008' }).waitFor() // a value of this moment
  await page.locator('.question input').nth(1).check()
  await page.locator('.question button').click()
  await page.locator('.question').waitFor({ state: 'detached' })
  await type(page, `patch configmap paint -p '{"data":{"color":"blue"}}'`)
  await page.locator('.graded.wrong', { hasText: 'Alice 的 Secret 占用了 4009' }).waitFor()
  for (let i = 0; i < 2; i++) {
    const before = await page.locator('.guide .eyebrow').innerText()
    await page.locator('.hints button', { hasText: '演示给我看' }).click()
    await page.waitForFunction(was => document.querySelector('.guide .eyebrow')?.textContent !== was, before)
  }
  assert.equal(await page.locator('.guide .eyebrow').innerText(), '课程完成')
  await page.locator('.transcript', { hasText: 'Operation cannot be fulfilled on configmaps "paint"' }).waitFor() // messages of the server are English
  assert.deepEqual(faults, [])
  await context.close()
})

test('switching the language in the middle of a lesson keeps its state, and the choice is remembered', async () => {
  const { context, page, faults } = await it.open({ locale: 'en-GB' })
  await ready(page)
  assert.equal(await lang(page), 'en')
  await takeLesson(page, 'first')
  await page.locator('.guide .dots').waitFor()
  await type(page, 'create configmap paint --from-literal color=red')
  await page.locator('.guide .prose', { hasText: 'paint is at revision 4008' }).waitFor()
  const before = await hash(page)
  await tabTo(page, '#language', 'Shift+Tab')
  await page.locator('#language').selectOption('zh-CN')
  await page.locator('.guide .prose', { hasText: 'paint 位于修订版本 4008' }).waitFor()
  await page.waitForFunction(() => document.activeElement?.id === 'language')
  assert.equal(await lang(page), 'zh-CN')
  await page.locator('.bar nav button', { hasText: '分享' }).click()
  await page.waitForFunction(() => /^[0-9a-f]{16,}$/.test(document.querySelector('#hash')?.textContent ?? ''))
  assert.equal(await page.locator('#hash').textContent(), before.sum, 'the world is the same')
  await closeDialog(page)
  await page.reload()
  await running(page)
  await page.locator('.guide .prose', { hasText: 'paint 位于修订版本 4008' }).waitFor()
  await page.locator('#language').selectOption('en')
  await page.locator('.guide .prose', { hasText: 'paint is at revision 4008' }).waitFor()
  await page.reload()
  await ready(page)
  assert.equal(await lang(page), 'en')
  assert.deepEqual(faults, [])
  await context.close()
})

// english returns the English texts on a Chinese page that are not allowed there: output of the server and of commands, names and code are.
const english = () => {
  const left = []
  const skip = 'code, pre, kbd, samp, .mono, .line, svg, select, textarea, input, .said, table, .textlog, .next'
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const said = node.textContent.trim()
    if (/[A-Za-z']+(?: [A-Za-z']+){3,}/.test(said) && !node.parentElement.closest(skip)) left.push(said)
  }
  for (const element of document.querySelectorAll('[aria-label], [title], [placeholder]')) {
    for (const name of ['aria-label', 'title', 'placeholder']) {
      const said = element.getAttribute(name) ?? ''
      if (/[A-Za-z']+(?: [A-Za-z']+){3,}/.test(said) && !element.closest('svg')) left.push(said)
    }
  }
  return left
}

test('no English sentence is left on the page, and axe finds nothing', async () => {
  const { context, page } = await it.open({ locale: 'zh-TW', viewport: { width: 390, height: 844 } })
  await running(page)
  const states = {
    'first screen': async () => {},
    'a token': async () => {
      for (const line of ['create configmap one', 'create configmap two', 'list configmaps --limit 1']) await type(page, line)
      await page.locator('.tabs .details').click() // on a phone the inspector is hidden at first
      await page.locator('.answered', { hasText: '之后接着走' }).waitFor()
      assert.match(await page.locator('.inspector .why .row').last().innerText(), /请求, GET \S+, 修订版本 \d+$/)
      assert.equal(await page.locator('.labels .name').first().innerText(), '存储')
    },
    'objects': async () => { await page.locator('#tab-objects').click() },
    'raw HTTP': async () => { await page.locator('#tab-http').click() },
    'actors': async () => { await page.locator('#tab-actors').click() },
    'console': async () => { await page.locator('#tab-console').click() },
    'help': async () => { for (const line of ['help', 'help get', 'gte configmaps', '! get configmaps']) await type(page, line) },
    'completions': async () => {
      await page.locator('#command').pressSequentially('get con')
      await page.locator('#candidates li').first().waitFor()
      await page.locator('#command').fill('watch configmaps --b')
      await page.locator('#candidates li', { hasText: '--bookmarks' }).waitFor()
    },
    'keys': async () => {
      await page.locator('#command').fill('')
      await page.locator('.bar nav button', { hasText: '快捷键' }).click()
    },
    'share': async () => {
      await closeDialog(page)
      await page.locator('.bar nav button', { hasText: '分享' }).click()
    },
    'map': async () => {
      await closeDialog(page)
      await page.locator('.bar nav button', { hasText: '课程' }).click()
      await page.locator('dialog .lesson[data-lesson="expectations"] b', { hasText: '滞后的缓存让 Pod 出现两次' }).waitFor()
    },
    'builder': async () => {
      await page.locator('dialog button', { hasText: '写一门课程' }).click()
      await page.locator('.verdict', { hasText: '可以完成' }).waitFor()
    },
  }
  Object.assign(states, {
    'a fault in a lesson': async () => {
      await page.locator('.cm-content').click()
      await page.keyboard.press('Control+Home')
      await page.keyboard.insertText('level: nowhere\n')
      await page.locator('dialog .bad', { hasText: '可用的有' }).waitFor()
    },
    'a lesson that cannot be finished': async () => {
      await closeDialog(page)
      await page.locator('.bar nav button', { hasText: '课程' }).click()
      await page.locator('dialog .lesson[data-lesson="first"]').click()
      await page.locator('.guide .dots').waitFor()
      for (const line of ['create configmap paint --from-literal color=red', 'delete configmap paint']) await type(page, line)
      await page.locator('.astray.broken').waitFor()
    },
  })
  for (const [name, reach] of Object.entries(states)) {
    await reach()
    const left = await page.evaluate(english)
    assert.deepEqual(name === 'builder' ? left.filter(said => !/lamp|list|part of an object|One sentence|server answer|whole object|first lesson/.test(said)) : left, [], name)
    assert.deepEqual(await violations(page), [], name)
  }
  await context.close()
})
