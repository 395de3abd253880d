// Where a lesson is on the map: what it builds on, what builds on it, and whether it is time for it.
import type { LessonInfo } from '../engine/protocol'
import type { Progress } from './progress'

export interface Place {
  state: 'solved' | 'open' | 'later'
  /** needs are the titles of the lessons that it builds on, leadsTo of those that build on it. */
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
