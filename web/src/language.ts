// The language of the page: the one that the user chose, or the first of the browser's languages that the page has. Each language other
// than English is a chunk, which is fetched when the language is chosen. It also contains the texts of the lessons, which the page sends to
// the engine (session.ts).
import { signal } from '@preact/signals'
import { recall, remember } from './state/page'
import { lessonTexts } from './state/session'
import { exchange, text } from './text'
import type { Text } from './text.more.en'

/** languages are the names of the languages, each in its own language. */
export const languages = { en: 'English', 'zh-CN': '中文' }
export type Language = keyof typeof languages

/** Dictionary is the content of a language's chunk: the texts of the page, and the lesson.LANGUAGE.yaml of each lesson by its id. */
export interface Dictionary {
  words: Text
  lessons: Record<string, string>
}

export const language = signal<Language>('en')

const fetched: Record<Language, () => Promise<Dictionary>> = {
  en: async () => ({ words: (await import('./text.more.en')).english, lessons: {} }),
  'zh-CN': () => import('./text.zh-CN'),
}

/** preferred returns the language to start with. */
export function preferred(chosen = recall('language'), browser: readonly string[] = navigator.languages): Language {
  if (chosen in languages) return chosen as Language
  for (const wish of browser) {
    if (/^zh\b/i.test(wish)) return 'zh-CN'
    if (/^en\b/i.test(wish)) return 'en'
  }
  return 'en'
}

/** speak changes the language of the page. If the language cannot be fetched, speak throws the error and the page stays as it is. */
export async function speak(next: Language): Promise<void> {
  if (next !== language.value) {
    const { words, lessons } = await fetched[next]()
    exchange(words)
    lessonTexts.value = lessons
    language.value = next
  }
  document.documentElement.lang = next
  document.title = text.page
}

/** choose changes the language and remembers the choice. */
export async function choose(next: Language): Promise<void> {
  await speak(next)
  remember('language', next)
}
