// The texts of the page, in the language that was chosen (language.ts). There is one object, whose words are exchanged, so that
// whoever holds a part of it (const words = text.lessons) speaks the new language when it draws the next time.
import { english, type Text } from './text.en'

export const text: Text = copy(english)

/** stateWords are what the engine says that something is doing, in the language of the page. */
export function stateWords(state: string): string {
  const number = /\d+/.exec(state)?.[0] ?? ''
  return text.states[state.replace(/\d+/, '%d')]?.replace('%d', number) ?? state
}

/** engineWords are what the engine says (help, what is wrong, why something is not so) in the language of the page. The catalogue has its
 * sentences in English, with {} for what they are about. What it does not have stays as it is; of "step 2 (x): check: …" each part counts. */
export function engineWords(said: string): string {
  return parts(said).words
}

// begins says whether the first part of what was said is in the catalogue.
function parts(said: string): { words: string; begins: boolean } {
  const whole = sentence(said)
  if (whole !== null) return { words: whole, begins: true }
  const at = said.indexOf(': ')
  if (at < 0) return { words: said, begins: false }
  const lead = sentence(said.slice(0, at))
  const rest = parts(said.slice(at + 2))
  return { words: `${lead ?? said.slice(0, at)}${lead !== null || rest.begins ? text.colon : ': '}${rest.words}`, begins: lead !== null }
}

interface Shape {
  fixed: number // how much of it is the same for all
  pattern: RegExp
  nested: 'first' | 'last' | '' // a part that is a sentence, too
  words: string
}

let shapes: { of: object | undefined; list: Shape[] } = { of: undefined, list: [] }
let exchanged = {} // another one for each language

function sentence(said: string): string | null {
  const known = text.said[said]
  if (known !== undefined) return known
  if (shapes.of !== exchanged) shapes = { of: exchanged, list: Object.entries(text.said).filter(([shape]) => shape.includes('{}')).map(shapeOf).sort(first) }
  for (const { pattern, nested, words } of shapes.list) {
    const found = pattern.exec(said)
    if (!found) continue
    const values = found.slice(1)
    if (nested === 'last') values.push(engineWords(values.pop() ?? ''))
    else if (nested === 'first') {
      const before = sentence(values[0] ?? '')
      if (before === null) continue // not all of it: what leads to the sentence comes before
      values[0] = before
    }
    let next = 0
    return words.replace(/\{(\d?)\}/g, (_, n: string) => values[n ? Number(n) - 1 : next++] ?? '')
  }
  return null
}

// What is put behind other sentences comes first, then those that say most.
const first = (a: Shape, b: Shape) => Number(b.nested === 'first') - Number(a.nested === 'first') || b.fixed - a.fixed

function shapeOf([shape, words]: [string, string]): Shape {
  const parts = shape.split('{}').map(part => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  const any = shape.includes(': ') || shape.endsWith(' is {}') ? '(.+?)' : '((?:(?!: ).)+?)' // a lead ends with its colon
  const lead = shape.startsWith('{}') ? '((?:(?!: ).)+?)' : any
  return { fixed: shape.replaceAll('{}', '').length, pattern: new RegExp(`^${parts[0]}${lead}${parts.slice(1).join(any)}$`, 's'), nested: shape.startsWith('{};') ? 'first' : /(: | is )\{\}$/.test(shape) ? 'last' : '', words }
}

type Words = Record<string, unknown>

/** exchange puts the words of a language in the place of those there are. */
export function exchange(words: Text): void {
  put(text as unknown as Words, words as unknown as Words)
  exchanged = {}
}

function put(into: Words, from: Words): void {
  for (const key of Object.keys(into)) if (!(key in from)) delete into[key]
  for (const [key, word] of Object.entries(from)) {
    if (isGroup(word)) put(into[key] as Words, word)
    else into[key] = word
  }
}

function copy<T>(words: T): T {
  return Object.fromEntries(Object.entries(words as Words).map(([key, word]) => [key, isGroup(word) ? copy(word) : word])) as T
}

function isGroup(word: unknown): word is Words {
  return typeof word === 'object' && word !== null && !Array.isArray(word)
}
