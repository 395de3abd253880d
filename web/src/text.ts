// The texts of the page, in the language that was chosen (language.ts). There is one object, whose words are exchanged, so that
// whoever holds a part of it (const words = text.lessons) speaks the new language when it draws the next time.
import { first } from './text.en'
import type { more, Text } from './text.more.en'

// Groups of texts that are fetched later are empty until then.
const later: Record<keyof typeof more, object> = { http: {}, objects: {}, actors: {}, situations: {}, levels: {}, map: {}, builder: {}, keys: {}, story: {}, changed: {}, course: {}, shell: {}, sharing: {} }

export const text = copy({ ...later, ...first }) as Text

let coming: Promise<void> | undefined

/** bringMore fetches the texts that are not on the first screen, unless another language has brought them. */
export function bringMore(): Promise<void> {
  coming ??= import('./text.more.en').then(({ more }) => {
    if (Object.keys(text.keys).length === 0) put(text as unknown as Words, { ...text, ...more } as unknown as Words)
  })
  return coming
}

/** stateWords are what the engine says that something is doing, in the language of the page. */
export function stateWords(state: string): string {
  const number = /\d+/.exec(state)?.[0] ?? ''
  return text.states[state.replace(/\d+/, '%d')]?.replace('%d', number) ?? state
}

type Words = Record<string, unknown>

/** exchange puts the words of a language in the place of those there are. */
export function exchange(words: Text): void {
  put(text as unknown as Words, words as unknown as Words)
}

function put(into: Words, from: Words): void {
  for (const key of Object.keys(into)) if (!(key in from)) delete into[key]
  for (const [key, word] of Object.entries(from)) {
    if (!isGroup(word)) into[key] = word
    else {
      if (!(key in into)) into[key] = {}
      put(into[key] as Words, word)
    }
  }
}

function copy<T>(words: T): T {
  return Object.fromEntries(Object.entries(words as Words).map(([key, word]) => [key, isGroup(word) ? copy(word) : word])) as T
}

function isGroup(word: unknown): word is Words {
  return typeof word === 'object' && word !== null && !Array.isArray(word)
}
