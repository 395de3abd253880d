// The problems of a lesson, by line. The engine reports each problem with its path in the YAML; this file finds the line of the path, as
// for manifests.
import { complaints, locate, type Complaint } from '../editor/locate'
import { text } from '../text'

/** Rehearsal is the answer to the view rehearse: a fault in the YAML, or the steps as far as the lesson's own solutions lead. */
export interface Rehearsal {
  fault?: { text: string; path: string }
  title?: string
  about?: string
  /** all is the number of steps of the lesson. */
  all?: number
  steps?: { id: string; text: string; ask?: string; options: string[]; right: number; hints: string[]; solution: string[] }[]
  stuck?: { step: number; why: string }
}

/** problemsOf returns all problems of a lesson. Line 0 stands for the lesson as a whole. */
export function problemsOf(lesson: string, { fault, stuck }: Rehearsal): Complaint[] {
  if (fault) return [{ line: lineOf(lesson, fault.path, fault.text), text: text.said(fault.text) }]
  if (stuck) return [{ line: locate(lesson, `steps[${stuck.step}]`), text: text.builder.stuck(stuck.step + 1, text.said(stuck.why)) }]
  return []
}

function lineOf(lesson: string, path: string, said: string): number {
  if (path) return locate(lesson, path)
  const field = /field "([^"]+)"/.exec(said)?.[1]
  if (!field) return complaints(lesson, { message: said })[0]?.line ?? 0
  return lesson.split('\n').findIndex(line => new RegExp(`(^|[\\s{,-])${field}:`).test(line)) + 1
}
