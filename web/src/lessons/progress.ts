// The learner's progress, stored only in this browser: which lessons are done, and the fewest requests for each.
import { signal } from '@preact/signals'
import type { LessonInfo, LessonState } from '../engine/protocol'
import { recall, remember } from '../state/page'
import { query } from '../state/session'
import { enterLesson } from '../state/worlds'

export interface Progress {
  [lesson: string]: { done: boolean; best?: number }
}

export const catalogue = signal<LessonInfo[]>([])
/** levels are the levels of the map, in order. */
export const levels = signal<string[]>([])
export const progress = signal<Progress>(read())

/** readCatalogue fetches the list of lessons from the engine. */
export async function readCatalogue(): Promise<void> {
  const reply = await query<{ levels: string[]; lessons: LessonInfo[] }>('lessons')
  levels.value = reply.levels
  catalogue.value = reply.lessons
}

function read(): Progress {
  try {
    const kept: unknown = JSON.parse(recall('progress') || '{}')
    return typeof kept === 'object' && kept !== null ? (kept as Progress) : {}
  } catch {
    return {}
  }
}

function write(next: Progress): void {
  progress.value = next
  remember('progress', JSON.stringify(next))
}

/** noteProgress stores a finished lesson and its number of requests. */
export function noteProgress(state: LessonState): void {
  if (!state.done || state.own) return
  const before = progress.value[state.id]
  const yours = state.golf.yours
  const best = Math.min(yours, before?.best ?? yours)
  if (before?.done && before.best === best) return
  write({ ...progress.value, [state.id]: { done: true, best } })
}

export function forgetProgress(): void {
  write({})
}

/** nextLesson returns the next lesson after id that is not done, starting over at the end of the list, or null. */
export function nextLesson(id: string): { title: string; start(): void } | null {
  const all = catalogue.value
  const from = all.findIndex(info => info.id === id) + 1
  const next = [...all.slice(from), ...all.slice(0, from)].find(info => info.id !== id && !progress.value[info.id]?.done)
  return next ? { title: next.title, start: () => void enterLesson(next.id) } : null
}
