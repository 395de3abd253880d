// A course is a list of lessons in an order, in a link or a file. This browser keeps what its learner has done: for each lesson the
// lines that solved it. All of that is the code which the learner gives to the teacher, whose page runs the lines again.
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
  /** lessons are the ids of the project's lessons, and the YAML of others. */
  lessons: string[]
}

export interface Taken {
  log: Op[]
  answers: Record<string, number>
}

/** Work is a course with what its learner has done, in the order of its lessons. */
export interface Work {
  course: Course
  name: string
  done: (Taken | null)[]
}

const most = 50 // lessons of a course
const longest = 100_000 // bytes of a lesson

/** checkedWork is what a link, a file or this browser's storage says, or null if that is no course. */
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

/** titleOf is the title of a lesson of a course. */
export function titleOf(lesson: string): string {
  if (isOwn(lesson)) return /^title: *(.*)$/m.exec(lesson)?.[1] ?? ''
  return catalogue.value.find(info => info.id === lesson)?.title ?? lesson
}

/** work is the course that this browser's learner takes. */
export const work = signal<Work | null>(kept())

/** toCheck is the work that a link asks to check. */
export const toCheck = signal<Work | null>(null)

function kept(): Work | null {
  try {
    return checkedWork(JSON.parse(recall('course') || 'null'))
  } catch {
    return null
  }
}

/** keep makes this the learner's work; null leaves the course. */
export function keep(next: Work | null): void {
  work.value = next
  remember('course', JSON.stringify(next))
}

/** join begins a course, or goes on with it; work of another learner is checked. */
export function join(value: unknown): void {
  const told = checkedWork(value)
  if (!told) return
  if (told.done.some(Boolean)) toCheck.value = told
  else if (JSON.stringify(told.course) !== JSON.stringify(work.value?.course)) keep(told)
  dialog.value = 'course'
}

/** placeInCourse is where the lesson that is running stands in the course, or -1. */
export function placeInCourse(): number {
  const { lesson, own } = bootBody()
  return work.value?.course.lessons.indexOf(own || lesson || '') ?? -1
}

/** noteWork keeps the lines with which a lesson of the course was solved. */
export function noteWork(state: LessonState): void {
  const [now, at] = [work.value, placeInCourse()]
  if (!now || at < 0 || !state.done || now.done[at]) return
  const { log = [], cursor, answers = {} } = bootBody()
  keep({ ...now, done: now.done.map((taken, i) => (i === at ? { log: log.slice(0, cursor), answers } : taken)) })
}

/** begin takes lesson i of the course. */
export function begin(i: number): void {
  const lesson = work.value?.course.lessons[i] ?? ''
  void enter(isOwn(lesson) ? { own: lesson } : { lesson })
}

/** courseLink is a link to a course; with work it is the code that says what was done. */
export async function courseLink(course: Course | Work): Promise<string> {
  return `${location.origin}${location.pathname}#${await pack({ course }, 'any')}`
}

export interface Verdict {
  done: boolean
  requests: number
  questions: number
  right: number
}

/** verify runs the lines of each lesson again, in an engine of its own. */
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
