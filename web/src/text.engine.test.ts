// All texts of the engine are in the catalogue. The test finds them in the Go sources.
import { readdirSync, readFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { exchange, text } from './text'
import { english } from './text.more.en'
import { words } from './text.zh-CN'
import { said } from './text.zh-CN.engine'

const literal = '(?:"(?:[^"\\\\\\n]|\\\\.)*"|`[^`]*`)'
const texts = `(${literal}(?:\\s*\\+\\s*${literal})*)`

// value returns the value of a Go string expression, which may be a concatenation.
function value(source: string): string {
  return [...source.matchAll(new RegExp(literal, 'g'))].map(([one]) => (one.startsWith('`') ? one.slice(1, -1) : JSON.parse(one.replace(/\\(?:x..|['\d]..|[av'])/g, '?')) as string)).join('')
}

// shape returns a format string with {} for its verbs. The part after a name ("; did you mean …?") is a separate sentence.
const shape = (format: string) => format.replace(/(%[a-z])%s$/, '$1').replace(/%[.\d]*[a-z]/g, '{}')

function sources(folder: string, besides = /_test\.go$/): string {
  return readdirSync(folder).filter(file => file.endsWith('.go') && !file.endsWith('_test.go') && !besides.test(file))
    .map(file => readFileSync(`${folder}/${file}`, 'utf8')).join('\n').replaceAll(/len\("[^"]*"\)/g, '0')
}

// scenario is the source of the texts that a page can show. A page runs no go test, replays no trace and reads no trace files.
const scenario = [sources('../sim/scenario', /^(runt|replay|recording|sweep|export|shell)\.go$/),
  ...['../sim/scenario/actor', '../sim/scenario/condition', '../sim/words'].map(folder => sources(folder))].join('\n')
const lesson = sources('../sim/lesson', /^(lesson|translate)\.go$/)
const engine = sources('../wasm/engine', /^serve\.go$/) // which answers programs, not the page
const trouble = sources('../sim/trouble')

function found(source: string, pattern: string): string[] {
  return [...source.matchAll(new RegExp(pattern, 'g'))].map(([, text]) => value(text ?? ''))
}

const helps = [...found(scenario + trouble, `\\bHelp:\\s*${texts}`),
  ...[...scenario.matchAll(/Words: +\[\]Choice\{(.*?)\}\}/gs)].flatMap(([, list]) => found(list ?? '', `\\{${literal}, ${texts}`))].filter(help => help)
const details = [...found(engine, `plainItems\\([^\\n]*, ${texts}\\)`), ...found(engine, `itemView\\{[^\\n{}]*, ${texts}\\}`)]
const errors = found(scenario + lesson + engine, `\\b(?:[wW]rong|fail|parse|failed|Errorf|errors\\.New)\\([^"\`\\n]*${texts}`).map(shape)
// leads reports whether a text only introduces another sentence, optionally with a word of the language.
const leads = (text: string) => /^(?:(?:\{\}|\{\{\{\}\}\}|when|let|do|range|once|column|[a-z.]+:)[ :]*)+$/.test(text)

// misuse matches the errors of messages that a page never sends (wasm/README.md): of an unknown kind, or with a part missing or impossible.
const misuse = /^(?:do needs an operation|seek needs n|credit is a number|this message cannot be read|unknown kind|unknown view|which object\?|no lesson runs|the answer is the number of an option|an object is shown as)/

beforeEach(() => exchange(words))
afterEach(() => exchange(english))

test('each help text, completion and error of the engine has a Chinese translation', () => {
  expect([helps.length > 90, details.length > 8, errors.length > 150]).toEqual([true, true, true])
  const missing = [...helps, ...details, ...errors].filter(sentence => !leads(sentence) && !misuse.test(sentence) && text.said(sentence) === sentence)
  expect([...new Set(missing)]).toEqual([])
})

test('the catalogue contains only texts of the engine, and its translations contain the same values', () => {
  const all = [scenario, lesson, engine, trouble].join('\n')
  const spoken = new Set([...helps, ...details, ...errors].filter(sentence => !misuse.test(sentence)))
  expect(Object.keys(said).filter(key => misuse.test(key))).toEqual([])
  const pieces = (text: string) => text.split('{}').map(part => part.trim()).filter(part => part)
  const whole = [...all.matchAll(new RegExp(texts, 'g'))].map(([one]) => shape(value(one)))
  expect(Object.keys(said).filter(key => !spoken.has(key) && !pieces(key).every(part => whole.some(text => text.includes(part))))).toEqual([])
  const codes = (text: string) => (text.match(/--[a-z-]+|\b[1-5]\d\d\b|\{[{}]*\d?\}|=[A-Z]+/g) ?? []).map(code => code.replace(/\d\}/, '}')).sort().join()
  expect(Object.entries(said).filter(([key, text]) => codes(key) !== codes(text)).map(([key]) => key)).toEqual([])
})

test('composed sentences are translated part by part', () => {
  expect(text.said('step 2 (dry): check: count pods is 3: column 7: there is no command "gte"; did you mean get?'))
    .toBe('第 2 步（dry）：check：count pods 是 3：第 7 列：没有命令 "gte"；你是不是想写 get？')
  expect(text.said('configmaps/paint .data.color == blue: configmaps/paint .data.color is red')).toBe('configmaps/paint .data.color == blue：configmaps/paint .data.color 是 red')
  expect(text.said('status is 404, code is 4')).toBe('status 是 404, code 是 4')
  expect(text.said('there is no pod "x" at revision 7')).toBe('在版本 7 没有 pod "x"')
  expect(text.said('configmaps "a" not found')).toBe('configmaps "a" not found')
  exchange(english)
  expect(text.said('let time pass')).toBe('let time pass')
})

// frames are texts with English words of the engine: a part of the format in the sources, an example, and its translation.
const frames = [
  ['replica %d knows revision %d', 'replica 1 knows revision 4005', '服务器 1 知道修订版本 4005'],
  ['revisions before %d are forgotten', 'revisions before 4005 are forgotten', '修订版本 4005 之前的历史已被忘记'],
  [' reads %s at %d,', 'default/web reads deployments.apps, pods at 4046, writes 2', 'default/web：读取位于 4046 的 deployments.apps, pods，写入 2 次'],
  [' writes nothing', 'default/web reads pods at 4046, writes nothing', 'default/web：读取位于 4046 的 pods，没有写入'],
  [' fails: ', 'default/web fails: not found', 'default/web 失败：not found'],
  [', watch ', '200 OK, watch w', '200 OK，监视 w'],
  ['%d items', '200 OK, 2 items: a b; rv 4005', '200 OK，2 个对象：a b; rv 4005'],
  ['1 item', '200 OK, 1 item: a; rv 4005', '200 OK，1 个对象：a; rv 4005'],
  ['; more to come', '200 OK, 1 item: a; rv 4005; more to come', '200 OK，1 个对象：a; rv 4005；后面还有 '],
  ['; %d more to come', '200 OK, 1 item: a; rv 4005; 2 more to come', '200 OK，1 个对象：a; rv 4005；后面还有 2'],
  [' (with a token to go on with)', '410 Expired: too old (with a token to go on with)', '410 Expired: too old（附有继续的令牌）'],
  ['left behind', 'left behind', '被留下'], ['ended by the server', 'ended by the server', '被服务器结束'],
  ['the connection broke', 'the connection broke', '连接断了'], ['stopped by its client', 'stopped by its client', '被客户端停止'],
]

test('the engine\'s words in the texts of frames are translated', () => {
  for (const [format = '', english = '', chinese] of frames) {
    expect(scenario).toContain(format)
    expect(text.framed(english)).toBe(chinese)
  }
})
