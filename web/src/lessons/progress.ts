// Progress of the lessons, kept in this browser only: which are done, and the fewest requests each took.
import { signal } from '@preact/signals'
import type { LessonInfo, LessonState } from '../engine/protocol'
import { recall, remember } from '../state/page'
import { query } from '../state/session'
import { enterLesson } from '../state/worlds'

export interface Progress {
  [lesson: string]: { done: boolean; best?: number }
}

export const catalogue = signal<LessonInfo[]>([])
/** levels are those of the map, in their order. */
export const levels = signal<string[]>([])
export const progress = signal<Progress>(read())

/** readCatalogue asks which lessons there are. */
export async function readCatalogue(): Promise<void> {
  const told = await query<{ levels: string[]; lessons: LessonInfo[] }>('lessons')
  levels.value = told.levels
  catalogue.value = told.lessons
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

/** noteProgress keeps that a lesson was finished. */
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

/** nextLesson is the first lesson after id that is not done. */
export function nextLesson(id: string): { title: string; start(): void } | null {
  const all = catalogue.value
  const from = all.findIndex(info => info.id === id) + 1
  const next = [...all.slice(from), ...all.slice(0, from)].find(info => info.id !== id && !progress.value[info.id]?.done)
  return next ? { title: next.title, start: () => void enterLesson(next.id) } : null
}
