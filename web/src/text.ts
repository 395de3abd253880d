// The texts of the page in the chosen language (language.ts). There is one object whose contents are replaced, so that a part of it in a
// constant (const words = text.lessons) has the new language at the next rendering.
import { first } from './text.en'
import type { more, Text } from './text.more.en'

// The groups that are loaded later are empty until then.
const later: Record<keyof typeof more, object> = { http: {}, objects: {}, actors: {}, situations: {}, levels: {}, map: {}, builder: {}, keys: {}, story: {}, changed: {}, course: {}, shell: {}, sharing: {} }

export const text = copy({ ...later, ...first }) as Text

let coming: Promise<void> | undefined

/** bringMore loads the texts that are not on the first screen, unless another language has already provided them. */
export function bringMore(): Promise<void> {
  coming ??= import('./text.more.en').then(({ more }) => {
    if (Object.keys(text.keys).length === 0) put(text as unknown as Words, { ...text, ...more } as unknown as Words)
  })
  return coming
}

/** stateWords translates the engine's name of a state into the language of the page. */
export function stateWords(state: string): string {
  const number = /\d+/.exec(state)?.[0] ?? ''
  return text.states[state.replace(/\d+/, '%d')]?.replace('%d', number) ?? state
}

type Words = Record<string, unknown>

/** exchange replaces all texts with those of another language. */
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
