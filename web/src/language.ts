// Which language the page speaks: the one that was chosen here, else the first of the browser's that there is. Another language than
// English is a chunk that is fetched when it is chosen; it brings the lessons along, which the engine is told of (session.ts).
import { signal } from '@preact/signals'
import { recall, remember } from './state/page'
import { lessonTexts } from './state/session'
import { exchange, text } from './text'
import type { Text } from './text.more.en'

/** languages are the names of the languages, in themselves. */
export const languages = { en: 'English', 'zh-CN': '中文' }
export type Language = keyof typeof languages

/** Dictionary is what the chunk of a language holds: the texts of the page, and of each lesson its lesson.LANGUAGE.yaml. */
export interface Dictionary {
  words: Text
  lessons: Record<string, string>
}

export const language = signal<Language>('en')

const fetched: Record<Language, () => Promise<Dictionary>> = {
  en: async () => ({ words: (await import('./text.more.en')).english, lessons: {} }),
  'zh-CN': () => import('./text.zh-CN'),
}

/** preferred is the language to begin with. */
export function preferred(chosen = recall('language'), browser: readonly string[] = navigator.languages): Language {
  if (chosen in languages) return chosen as Language
  for (const wish of browser) {
    if (/^zh\b/i.test(wish)) return 'zh-CN'
    if (/^en\b/i.test(wish)) return 'en'
  }
  return 'en'
}

/** speak changes the language of the page. Where it cannot be fetched, the page stays as it is, and the error is thrown. */
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

/** choose speaks another language, and keeps the choice. */
export async function choose(next: Language): Promise<void> {
  await speak(next)
  remember('language', next)
}
