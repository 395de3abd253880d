// The place of a lesson on the map: which lessons it builds on, which build on it, and whether it is solved or open.
import type { LessonInfo } from '../engine/protocol'
import type { Progress } from './progress'

export interface Place {
  state: 'solved' | 'open' | 'later'
  /** needs are the titles of the lessons that it builds on, leadsTo the titles of the lessons that build on it. */
  needs: string[]
  leadsTo: string[]
}

export function placeOf(info: LessonInfo, all: readonly LessonInfo[], progress: Progress): Place {
  const solved = (id: string) => progress[id]?.done ?? false
  return {
    state: solved(info.id) ? 'solved' : info.needs.every(solved) ? 'open' : 'later',
    needs: all.filter(other => info.needs.includes(other.id)).map(other => other.title),
    leadsTo: all.filter(other => other.needs.includes(info.id)).map(other => other.title),
  }
}
