import { readdirSync, readFileSync } from 'node:fs'
import { expect, test, vi } from 'vitest'
import { exchange, stateWords, text } from './text'
import { english } from './text.more.en'
import { lessons, words as chinese } from './text.zh-CN'
import { inBoth } from './served/texts'

vi.stubGlobal('document', { documentElement: { dataset: {} } })
vi.mock('./engine/engine', () => import('./state/fake-engine'))
vi.mock('./engine/files', () => ({ compile: vi.fn(), manifest: null, schemaData: vi.fn() }))
const { captionsOf } = await import('./state/story')
const { preferred } = await import('./language')

type Word = string | ((...args: unknown[]) => string)

// flat lists all texts of a language by key. Functions are called with samples.
function flat(words: unknown, at = ''): [string, Word][] {
  if (typeof words !== 'object' || words === null) return [[at, words as Word]]
  return Object.entries(words).flatMap(([key, word]) => flat(word, at ? `${at}.${key}` : key))
}

// samples are the arguments for functions: numbers and names, or a list of them for the functions of the map.
const samples = ['7', '3', 'xyzzy']
const made = (word: Word, list: boolean) => typeof word === 'string' ? word : word(...(list ? [['left', 'right']] : samples.slice(0, word.length)))

const takesList = (key: string) => ['map.buildsOn', 'map.leadsTo'].includes(key)
const theirs = new Map(flat(chinese))
// extra reports whether a key has no English text: English captions are comments of the opening scenario, and states are words of the
// engine.
const extra = (key: string) => /^(opener\.captions|states)\.|^said$/.test(key)

test('the texts about a served cluster exist in both languages', () => {
  const keys = (words: unknown) => flat(words).map(([key]) => key)
  expect(keys(inBoth['zh-CN'])).toEqual(keys(inBoth.en))
  for (const [, word] of flat(inBoth['zh-CN'])) expect(made(word, false)).toMatch(/\p{Script=Han}/u)
})

test('both languages have the same texts', () => {
  const keys = (words: unknown) => flat(words).map(([key]) => key).filter(key => !extra(key)).sort()
  expect(keys(chinese)).toEqual(keys(english))
})

const codes = (said: string) => (said.match(/`[^`]+`|--[a-z-]+|\b[1-5]\d\d\b|\b(?:Enter|Esc|Ctrl)\b/g) ?? []).sort()
const sentence = /[A-Za-z']+(?: [A-Za-z']+){3,}/
const han = /\p{Script=Han}/u
// same reports whether a text may be the same in both languages: commands, and terms without a Chinese name.
const same = (key: string) => /^framed$|^console\.(starters|placeholder)|formats|^objects\.wire|^title$|^actors\.addInformer|^timeline\.(watch|client)|^keys\.list\.\d+\.0/.test(key)

test('both languages contain the same values and codes, and the Chinese texts contain no English sentence', () => {
  const wrong: string[] = []
  for (const [key, word] of flat(english)) {
    if (extra(key)) continue
    const [here, there] = [made(word, takesList(key)), made(theirs.get(key) as Word, takesList(key))]
    if (codes(here).join() !== codes(there).join()) wrong.push(`${key}: ${codes(here)} and ${codes(there)}`)
    for (const sample of [...samples, 'left', 'right']) {
      if (here.includes(sample) && typeof word === 'function' && !there.includes(sample)) wrong.push(`${key}: without ${sample}: ${there}`)
    }
    const plain = there.replace(/`[^`]+`/g, '')
    if (!same(key) && (!han.test(plain) || sentence.test(plain))) wrong.push(`${key}: ${there}`)
  }
  expect(wrong).toEqual([])
})

test('texts for one thing have no plural', () => { // the number of recorded steps is in the thousands
  const ones = flat(english).map(([key, word]) => [key, typeof word === 'string' || takesList(key) ? '' : word(...([1, 1, 1].slice(0, word.length)).map(n => (/replaceAll/.test(word.toString()) ? String(n) : n)))])
  expect(ones.filter(([key, said]) => key !== 'opener.checked' && /(?<!of |No )\b1 (?:[a-z]+ )?[a-z]{2,}s\b/.test(said ?? ''))).toEqual([])
})

test('no text is unused', () => {
  const source = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter(file => /\.tsx?$/.test(file) && !/text\.(en|more|zh-CN|test)/.test(file))
    .map(file => readFileSync(`src/${file}`, 'utf8')).join('\n')
  // lookedUp matches texts that are looked up by a name from data: kinds of frames, themes, levels, situations, effects, tabs, formats.
  const lookedUp = /^(kinds|tabs|levels|situations|head\.themes|lessons\.effects|keys\.list|console.(formats|starters)|story.(options|wrong)|http\.formats|opener\.captions)\.|^objects\.(edit|diff|skew)$|^map\.(solved|open|later)$/
  const unused = flat(english).map(([key]) => key).filter(key => !lookedUp.test(key) && !new RegExp(`\\.${key.split('.').at(-1)}\\b`).test(source))
  expect(unused).toEqual([])
})

test('the captions of the opening are those of its scenario', () => {
  const captions = [...new Set(captionsOf(readFileSync('../wasm/opener.txtar', 'utf8')))]
  expect(Object.keys(chinese.opener.captions)).toEqual(captions)
  for (const said of Object.values(chinese.opener.captions)) expect(said).toMatch(han)
})

test('all states are states of the engine', () => {
  const source = ['../wasm/engine', '../sim/scenario', '../sim/scenario/actor', '../sim/controller'].flatMap(folder => readdirSync(folder).filter(file => file.endsWith('.go')).map(file => readFileSync(`${folder}/${file}`, 'utf8'))).join('\n')
  expect(Object.keys(chinese.states).filter(state => !source.includes(`"${state}"`))).toEqual([])
  exchange(chinese)
  expect([stateWords('has read 12'), stateWords('watches'), stateWords('unheard of')]).toEqual(['已读取 12 个', '正在监视', 'unheard of'])
  exchange(english)
})

test('every lesson has a Chinese translation', () => {
  const order = readFileSync('../sim/lesson/data/order.txt', 'utf8').split('\n').filter(Boolean)
  expect(Object.keys(lessons).sort()).toEqual([...order].sort())
})

test('texts are replaced in place', () => {
  const held = text.lessons
  exchange(chinese)
  expect(held.step(1, 5)).toBe('第 1 步，共 5 步')
  expect(text.keys.list).toBe(chinese.keys.list)
  exchange(english)
  expect(held.steps(1)).toBe('1 step')
  expect(held.steps(2)).toBe('2 steps')
})

test('the language is the chosen one, or the first of the browser\'s languages that the page has', () => {
  expect(preferred('en', ['zh-CN'])).toBe('en')
  expect(preferred('', ['de', 'zh-TW', 'en'])).toBe('zh-CN')
  expect(preferred('', ['fr', 'en-GB', 'zh'])).toBe('en')
  expect(preferred('tlh', ['zha'])).toBe('en')
})
