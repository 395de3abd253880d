// What is wrong with a lesson that somebody writes, by lines. The engine says where in the YAML, as a path; the line of a path is
// found here, as for manifests.
import { complaints, locate, type Complaint } from '../editor/locate'
import { text } from '../text'

/** Rehearsal is the view rehearse: a fault, or the steps as far as the lesson's own solutions lead. */
export interface Rehearsal {
  fault?: { text: string; path: string }
  title?: string
  about?: string
  /** all is how many steps there are. */
  all?: number
  steps?: { id: string; text: string; ask?: string; options: string[]; right: number; hints: string[]; solution: string[] }[]
  stuck?: { step: number; why: string }
}

/** problemsOf is everything that is wrong; line 0: with the lesson as a whole. */
export function problemsOf(lesson: string, { fault, stuck }: Rehearsal): Complaint[] {
  if (fault) return [{ line: lineOf(lesson, fault.path, fault.text), text: text.said(fault.text) }]
  if (stuck) return [{ line: locate(lesson, `steps[${stuck.step}]`), text: text.builder.stuck(stuck.step + 1, text.said(stuck.why)) }]
  return []
}

function lineOf(lesson: string, path: string, said: string): number {
  if (path) return locate(lesson, path)
  const field = /unknown field "([^"]+)"/.exec(said)?.[1] ?? /field file\.(?:\w+\.)*(\w+)/.exec(said)?.[1]
  if (!field) return complaints(lesson, { message: said })[0]?.line ?? 0
  return lesson.split('\n').findIndex(line => new RegExp(`(^|[\\s{,-])${field}:`).test(line)) + 1
}
