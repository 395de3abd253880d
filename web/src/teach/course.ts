// A course is an ordered list of lessons, in a link or a file. The browser stores what the learner has done: for each lesson the lines that
// solved it. Course and lines together are the code that the learner gives to the teacher, whose page runs the lines again.
import { signal } from '@preact/signals'
import { Engine, Refused } from '../engine/engine'
import { schemaData, type EngineName } from '../engine/files'
import type { LessonState, Op } from '../engine/protocol'
import { catalogue } from '../lessons/progress'
import { pack } from '../share/codec'
import { dialog, recall, remember } from '../state/page'
import { bootBody } from '../state/session'
import { enter } from '../state/worlds'

export interface Course {
  title: string
  /** lessons are ids of the project's lessons, or the YAML of other lessons. */
  lessons: string[]
}

export interface Taken {
  log: Op[]
  answers: Record<string, number>
}

/** Work is a course with the learner's results, in the order of its lessons; a result is null until the lesson is done. */
export interface Work {
  course: Course
  name: string
  done: (Taken | null)[]
}

const most = 50 // lessons of a course
const longest = 100_000 // bytes of a lesson

/** checkedWork validates a value from a link, a file or this browser's storage. It returns null if the value is neither a course nor
 * work. */
export function checkedWork(value: unknown): Work | null {
  const { title, lessons, course, name, done } = (value ?? {}) as Record<string, unknown>
  if (typeof course === 'object' && course !== null) {
    const inner = checkedWork(course)
    const taken = Array.isArray(done) ? (done as (Taken | null)[]) : []
    return inner && { course: inner.course, name: String(name ?? '').slice(0, 200), done: inner.course.lessons.map((_, i) => checkedTaken(taken[i])) }
  }
  if (typeof title !== 'string' || !Array.isArray(lessons) || lessons.length === 0 || lessons.length > most) return null
  const good = lessons.every(lesson => typeof lesson === 'string' && (isOwn(lesson) ? lesson.length < longest : /^[\w-]{1,64}$/.test(lesson)))
  return good ? { course: { title: title.slice(0, 200), lessons: lessons as string[] }, name: '', done: lessons.map(() => null) } : null
}

function checkedTaken(taken: Taken | null | undefined): Taken | null {
  if (!Array.isArray(taken?.log) || !taken.log.every(op => typeof op?.line === 'string')) return null
  return { log: taken.log, answers: taken.answers ?? {} }
}

const isOwn = (lesson: string) => lesson.includes('\n')

/** titleOf returns the title of a lesson of a course. */
export function titleOf(lesson: string): string {
  if (isOwn(lesson)) return /^title: *(["']?)(.*?)\1\s*$/m.exec(lesson)?.[2] ?? ''
  return catalogue.value.find(info => info.id === lesson)?.title ?? lesson
}

/** work is the course that this browser's learner takes, or null. */
export const work = signal<Work | null>(kept())

/** toCheck is the work in an opened link, which the page checks, or null. */
export const toCheck = signal<Work | null>(null)

function kept(): Work | null {
  try {
    return checkedWork(JSON.parse(recall('course') || 'null'))
  } catch {
    return null
  }
}

/** keep stores the learner's work. null leaves the course. */
export function keep(next: Work | null): void {
  work.value = next
  remember('course', JSON.stringify(next))
}

/** join starts or continues a course. If value contains work, it is checked instead. */
export function join(value: unknown): void {
  const joined = checkedWork(value)
  if (!joined) return
  if (joined.done.some(Boolean)) toCheck.value = joined
  else if (JSON.stringify(joined.course) !== JSON.stringify(work.value?.course)) keep(joined)
  dialog.value = 'course'
}

/** placeInCourse returns the index of the running lesson in the course, or -1. */
export function placeInCourse(): number {
  const { lesson, own } = bootBody()
  return work.value?.course.lessons.indexOf(own || lesson || '') ?? -1
}

/** noteWork stores the lines that solved a lesson of the course. */
export function noteWork(state: LessonState): void {
  const [now, at] = [work.value, placeInCourse()]
  if (!now || at < 0 || !state.done || now.done[at]) return
  const { log = [], cursor, answers = {} } = bootBody()
  keep({ ...now, done: now.done.map((taken, i) => (i === at ? { log: log.slice(0, cursor), answers } : taken)) })
}

/** begin opens lesson i of the course. */
export function begin(i: number): void {
  const lesson = work.value?.course.lessons[i] ?? ''
  void enter(isOwn(lesson) ? { own: lesson } : { lesson })
}

/** courseLink returns a link to a course. With work it is the learner's code. */
export async function courseLink(course: Course | Work): Promise<string> {
  return `${location.origin}${location.pathname}#${await pack({ course }, 'any')}`
}

export interface Verdict {
  done: boolean
  requests: number
  questions: number
  right: number
}

/** verify runs the lines of each lesson again, in a separate engine. */
export async function verify({ course, done }: Work): Promise<Verdict[]> {
  const verdicts: Verdict[] = []
  for (const [i, lesson] of course.lessons.entries()) {
    const taken = done[i]
    const state = taken ? await replay({ ...(isOwn(lesson) ? { own: lesson } : { lesson }), ...taken }, 'core').catch(() => null) : null
    const asked = state?.predicted.filter(one => one !== null) ?? []
    verdicts.push({
      done: state?.done ?? false, requests: state?.golf.yours ?? 0, questions: asked.length, right: asked.filter(one => one?.right).length,
    })
  }
  return verdicts
}

async function replay(boot: object, name: EngineName): Promise<LessonState | null> {
  const engine = new Engine(name)
  try {
    for (;;) {
      const needs = await engine.ask<{ lesson: LessonState }>('boot', boot).catch((error: Error) => {
        if (error instanceof Refused && error.needs) return error.needs
        throw error
      })
      if (typeof needs !== 'string') return needs.lesson
      const minor = needs.split('/')[1]
      if (!minor) return name === 'core' ? await replay(boot, 'cel') : null
      await engine.ask('schema', { minor, data: await schemaData(minor) })
    }
  } finally {
    engine.stop()
  }
}
