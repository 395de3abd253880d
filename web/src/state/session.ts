// The session: one engine, one world, and the log of operations that created it. The page shows folds over frames, which are stored here,
// and answers to queries, which are sent when a part of the page needs them.
import { batch, computed, signal } from '@preact/signals'
import { putManifest } from './manifests'
import { paced } from './pace'
import { Engine, Refused, type FramesMessage } from '../engine/engine'
import { compile, manifest, schemaData, type EngineName } from '../engine/files'
import type { Boot, Exchange, Frame, Head, Lesson, LessonState, Op, Resource, Result, Story } from '../engine/protocol'
import { storyOf } from './story'
import { usages } from '../lessons/runnable'
import { text } from '../text'

export type Status =
  | { state: 'loading' }
  | { state: 'recorded' } // a recorded trace is shown while the engine loads
  | { state: 'ready' }
  | { state: 'stopped'; text: string } // the engine has failed; the log is kept

export interface Entry {
  id: number
  op: number
  line: string
  result?: LineResult | undefined
  error?: string
  /** auto is true if the running clock sent the line, and not the user. */
  auto?: boolean
  /** help is the page's own answer to a line: terms with their explanations. */
  help?: [string, string][]
}

/** LineResult is the part of a result that the transcript shows. */
export type LineResult = Pick<Result, 'lines' | 'ok' | 'text' | 'waiting' | 'watch'>

export interface Answer {
  head?: Head
  lesson?: LessonState | null
}

export const status = signal<Status>({ state: 'loading' })
export const frames = signal<Frame[]>([])
/** arrival describes the newest frames: they follow number before. reset means that all frames were replaced, same that they equal the
 * previous ones. */
export const arrival = signal({ before: 0, reset: true, same: false })
/** differs reports whether the engine's frames differ from the recording that they have replaced. */
export const differs = signal(false)
export const head = signal<Head>({ branch: '0', n: 0, total: 0, vt: 0, rv: '0', frames: 0 })
export const branches = signal<string[]>(['0'])
export const transcript = signal<Entry[]>([])
export const resources = signal<Resource[]>([])
export const namespaces = signal<string[]>(['default'])
export const lessonState = signal<LessonState | null>(null)
export const lesson = signal<Lesson | null>(null)
export const engineName = signal<EngineName>('core')
export const version = signal('')
export const busy = signal(0)

/** ticking reports whether simulated time passes with real time (clock.ts). */
export const ticking = signal(false)

/** story contains the captions beside the world, or is null. */
export const story = signal<Story | null>(null)

/** running is the line that the engine executes, with the world's time so far, or null. */
export const running = signal<{ line: string; time: number } | null>(null)
export const ready = computed(() => status.value.state === 'ready')

/** own is the frame of the last request that a line of the user sent. Other clients may have sent requests since. */
export const own = signal(0)

/** answered is the exchange of that line if it was one complete request, otherwise null. */
export const answered = signal<Exchange | null>(null)

/** World answers the page's requests: the engine in its Worker, or a served cluster. */
export interface World {
  readonly name: EngineName
  onFrames: (message: FramesMessage) => void
  onExit: (text: string) => void
  ask<T>(kind: string, body?: object): Promise<T>
  stop(why?: string): void
}

/** attached reports whether the world is a cluster of kubesim serve. */
export const attached = signal(false)

/** lessonTexts are the texts of the lessons in the page's language, by lesson id. Lessons without an entry are in English. */
export const lessonTexts = signal<Record<string, string>>({})

/** replaced are the previous worlds of this one, which was rebuilt with more servers: how to boot each, and the operation number at that
 * point. */
export const replaced = signal<{ boot: Boot; n: number }[]>([])

/** undoable reports whether undo has anything to undo. */
export const undoable = computed(() => head.value.n > 0 || replaced.value.length > 0)

let engine: World | null = null
let booted: Boot = {}
let log: Op[] = []
let entries = 0
const longest = 400 // entries of the transcript that are kept

/** start starts a Worker and boots a world in it. The previous Worker is stopped. */
export async function start(boot: Boot, name: EngineName = 'core'): Promise<void> {
  open(name)
  await bootWith(boot)
}

/** bootWith replaces the world of the running engine. If the engine refuses the new world, nothing changes. */
export async function bootWith(boot: Boot): Promise<void> {
  const answer = await ask<Answer & { version: string }>('boot', boot)
  story.value = boot.story ?? (boot.scenario ? storyOf(boot.scenario) : null)
  booted = boot
  replaced.value = []
  log = [...(boot.log ?? [])]
  if (boot.scenario !== undefined) await adopt()
  for (const { line, files = {} } of log) if (!line.startsWith('import ')) for (const [name, content] of Object.entries(files)) putManifest(name, content)
  const begun = log.length
  batch(() => {
    transcript.value = [] // the entries of the previous world
    version.value = answer.version
    branches.value = ['0']
    status.value = { state: 'ready' }
    absorb({ lesson: null, ...answer })
  })
  const said = (await logEntries()).filter(({ op }) => op <= begun)
  transcript.value = [...said, ...transcript.value].slice(-longest) // the user may have run lines meanwhile
  await describe()
}

// logEntries returns the log as transcript entries with their results.
async function logEntries(): Promise<Entry[]> {
  const { from, results } = await query<{ from: number; results: LineResult[] }>('results')
  return log.map((op, i) => ({ id: ++entries, op: i + 1, line: op.line, result: results[i - from] })).slice(-longest)
}

interface Made extends Pick<Boot, 'seed' | 'replicas' | 'controllers' | 'nodes' | 'whole' | 'classes'> {
  log: Op[] | null
  files?: Record<string, string>
}

// adopt takes over the log of a world that a scenario created. From then on the world is defined by seed, servers and log.
async function adopt(): Promise<void> {
  const { seed, replicas, controllers, nodes, whole, classes } = await takeLog()
  booted = { seed, replicas, controllers, nodes, whole, classes }
}

// takeLog takes over the engine's log. The files of a scenario become files of its first operation.
async function takeLog(): Promise<Made> {
  const made = await query<Made>('log')
  const [first, ...rest] = made.log ?? []
  log = first && made.files ? [{ ...first, files: { ...made.files, ...first.files } }, ...rest] : (made.log ?? [])
  return made
}

/** bootBody returns the body of a boot that recreates this world. Links contain it, and a restart sends it. */
export function bootBody(): Boot {
  const body: Boot = { ...booted, ...(story.value && { story: story.value }), log: [...log], cursor: head.value.n }
  const answers = (lessonState.value?.predicted ?? []).flatMap((p, step) => (p && p.answer >= 0 ? [[step, p.answer]] : []))
  if (answers.length > 0) body.answers = Object.fromEntries(answers) as Record<string, number>
  return body
}

/** show displays recorded frames before the engine is ready. */
export function show(messages: FramesMessage[]): void {
  batch(() => {
    for (const message of messages) receive(message)
    status.value = { state: 'recorded' }
  })
}

/** run executes one line. It never rejects: an error becomes part of the transcript entry. */
export async function run(line: string, files?: Record<string, string>, auto = false): Promise<Result | null> {
  const op: Op = files && Object.keys(files).length > 0 ? { line, files } : { line }
  busy.value++
  running.value ??= { line, time: 0 }
  try {
    const answer = await ask<Answer & { head: Head; result: Result }>('do', { op })
    log.length = answer.head.n - 1 // several lines may be in flight; the answer contains the position of this one
    log.push(op)
    absorb(answer)
    coming.said = answer.result
    showSoon()
    note({ op: head.value.n, line, result: answer.result, auto })
    return answer.result
  } catch (error) {
    note({ op: head.value.n, line, error: (error as Error).message })
    return null
  } finally {
    done()
  }
}

// done ends the request that busy counts.
function done(): void {
  busy.value--
  if (busy.value === 0) running.value = null
}

/** interrupt stops the engine's current work: a new Worker replays the log without it. */
export async function interrupt(): Promise<void> {
  if (!engine || attached.value) return
  const body = bootBody()
  const name = engineName.value
  engine.stop(text.engine.interrupted)
  await new Promise(resolve => setTimeout(resolve)) // lets the stopped lines add their entries
  const stopped = transcript.value.filter(({ error }) => error === text.engine.interrupted)
  status.value = { state: 'loading' }
  await start(body, name)
  const before = transcript.value.filter(({ op }) => op <= (body.log?.length ?? 0)) // the user may have run a line meanwhile
  transcript.value = [...before, ...stopped, ...transcript.value.slice(before.length)]
}

/** followed returns the name of the newest watch that a kubectl line began and no later line stopped, or "". */
export function followed(entries: readonly Entry[]): string {
  const stopped = new Set(entries.map(({ line }) => /^stop (\S+)$/.exec(line)?.[1]))
  return entries.findLast(({ line, result }) => /^[!? ]*(?:kubectl|k)\b/.test(line) && result?.watch && !stopped.has(result.watch))?.result?.watch ?? ''
}

/** note adds an entry to the transcript. An entry with a result replaces the entries that were undone. */
export function note(entry: Omit<Entry, 'id'>): void {
  const kept = entry.result ? transcript.value.filter(e => e.op < entry.op || (!e.result && e.op === entry.op)) : transcript.value
  transcript.value = [...kept, { id: ++entries, ...entry }].slice(-longest)
}

/** seek moves to the world after operation n of this branch, back or forward. */
export async function seek(n: number): Promise<void> {
  const total = head.value.total
  if (n < 0 || n > total || n === head.value.n) return
  await change('seek', { n })
}

let undone: Promise<void> = Promise.resolve()

/** undo moves one operation back. It is relative to the engine's position after all lines and undos that were sent before. */
export function undo(): Promise<void> {
  ticking.value = false
  undone = undone.then(undoOne, undoOne)
  return undone
}

async function undoOne(): Promise<void> {
  const last = replaced.value.at(-1)
  if (last && busy.value === 0 && head.value.n <= last.n) {
    const before = replaced.value.slice(0, -1)
    await bootWith(last.boot)
    replaced.value = before
    return
  }
  if (head.value.n > 0 || busy.value > 0) await change('undo')
}

/** redo moves one operation forward. */
export async function redo(): Promise<void> {
  if (head.value.n < head.value.total || busy.value > 0) await change('redo')
}

/** fork starts a branch with the first n operations of the log. The previous branch is kept. */
export async function fork(n: number): Promise<void> {
  if (!(await change('fork', { n }))) return
  log = log.slice(0, n)
  transcript.value = transcript.value.filter(e => e.op <= n)
  branches.value = [...new Set([...branches.value, head.value.branch])]
}

/** branch switches to another branch. */
export async function branch(id: string): Promise<void> {
  if (!(await change('branch', { branch: id }))) return
  await takeLog()
  transcript.value = await logEntries()
}

/** change sends a request that changes the world or the lesson. It returns the answer, or null if the engine refused the request. amend
 * can update the log before the page sees the answer. */
export async function change<T extends object = Answer>(kind: string, body: object = {}, amend?: (answer: T) => void): Promise<T | null> {
  busy.value++
  running.value ??= { line: kind, time: 0 }
  try {
    const answer = await ask<T & Answer>(kind, body)
    amend?.(answer)
    absorb(answer)
    return answer
  } catch (error) {
    note({ op: head.value.n, line: kind, error: (error as Error).message })
    return null
  } finally {
    done()
  }
}

/** query returns a view of the world. */
export async function query<T>(view: string, body: object = {}): Promise<T> {
  return (await ask<{ data: T }>('query', { view, ...body })).data
}

/** solve makes the engine run the solution of the lesson's current step. */
export async function solve(): Promise<void> {
  if (await change<Answer & { log: Op[] }>('solve', {}, answer => { log = answer.log })) transcript.value = await logEntries()
}

/** sendLessonTexts sends the lessons' texts in the page's language to the engine and updates the current lesson. */
export async function sendLessonTexts(): Promise<void> {
  if (!engine) return
  absorb(await engine.ask<Answer>('speak', { texts: lessonTexts.value }))
  if (lessonState.value) lesson.value = await query<Lesson>('lesson')
}

/** recover starts a new Worker with the log of the failed one, optionally without its last operation. */
export async function recover(withoutLast = false): Promise<void> {
  const body = bootBody()
  if (withoutLast) body.log = body.log?.slice(0, -1) ?? []
  delete body.cursor
  status.value = { state: 'loading' }
  await start(body, engineName.value)
}

async function describe(): Promise<void> {
  await discover()
  lesson.value = lessonState.value ? await query<Lesson>('lesson') : null
  for (const [name, content] of Object.entries(lesson.value?.files ?? {})) putManifest(name, content)
  if (!lesson.value || usages.value.size > 0) return
  const { commands } = await query<{ commands: { name: string; usage: string }[] }>('help')
  usages.value = new Map(commands.map(({ name, usage }) => [name, usage]))
}

// discover queries the resources and namespaces, after a boot and after a write to one of them.
async function discover(): Promise<void> {
  const described = await query<{ resources: Resource[]; namespaces: string[] }>('resources')
  batch(() => {
    resources.value = described.resources
    namespaces.value = described.namespaces
  })
}

function absorb(answer: Answer): void {
  batch(() => {
    if (answer.head) head.value = answer.head
    if (answer.lesson !== undefined) lessonState.value = answer.lesson
  })
}

// coming are the frames and the last result that are not shown yet, because updates are paced.
const coming: { frames: Frame[]; said: Result | null } = { frames: [], said: null }
const showSoon = paced(showNow)

/** showNow shows them at once, for callers that need the newest frames. */
export function showNow(): void {
  const { frames: fresh, said } = coming
  coming.frames = []
  coming.said = null
  batch(() => {
    if (fresh.length > 0) {
      arrival.value = { before: frames.value.length, reset: false, same: false }
      frames.value = frames.value.concat(fresh)
    }
    if (!said) return
    own.value = said.http?.n ?? 0
    answered.value = said.http?.res && !said.watch ? said.http : null
  })
}

function receive(message: FramesMessage): void {
  if (message.reset) replace(message.frames, message.keep)
  else {
    coming.frames = coming.frames.concat(message.frames)
    showSoon()
  }
  if (ready.value && message.frames.some(defines)) void discover()
}

// replace shows other frames in the place of the previous ones, except the first keep. The engine's frames must equal those of a recording.
function replace(others: Frame[], keep = 0): void {
  showNow()
  const all = keep > 0 ? frames.value.slice(0, keep).concat(others) : others
  const recorded = status.value.state === 'recorded'
  const same = recorded && alike(frames.value, all)
  if (recorded) differs.value = !same
  batch(() => {
    own.value = 0
    answered.value = null
    frames.value = all
    arrival.value = { before: 0, reset: true, same }
  })
}

function alike(a: readonly Frame[], b: readonly Frame[]): boolean {
  return a.length === b.length && JSON.stringify(a) === JSON.stringify(b)
}

function defines(frame: Frame): boolean {
  return frame.kind === 'store.commit' && /^(namespaces|customresourcedefinitions)\b/.test(frame.ref ?? '')
}

// open stops the current Worker and starts another one.
function open(name: EngineName): void {
  attached.value = false
  const made = new Engine(name)
  connect(made)
  if (Object.keys(lessonTexts.value).length > 0) made.ask('speak', { texts: lessonTexts.value }).catch(() => {}) // sent before the boot, which reports any error
}

function connect(world: World): void {
  engine?.stop()
  engineName.value = world.name
  engine = world
  engine.onFrames = receive
  if (world instanceof Engine) world.onTime = time => { if (running.value) running.value = { ...running.value, time } }
  engine.onExit = why => {
    status.value = { state: 'stopped', text: why }
  }
}

/** attach shows a served cluster instead of a world of the page. */
export async function attach(world: World & { onHead(head: Head): void }): Promise<void> {
  connect(world)
  attached.value = true
  world.onHead = now => absorb({ head: now })
  await bootWith({})
}

/** ask sends a request. If the engine lacks data (the engine with CEL, the schema of another minor), ask loads it and sends the request
 * again. */
export async function ask<T>(kind: string, body: object): Promise<T> {
  if (!engine) throw new Error(text.engine.notYet)
  for (let tries = 0; ; tries++) {
    try {
      return await engine.ask<T>(kind, body)
    } catch (error) {
      if (!(error instanceof Refused) || !error.needs || tries > 3) throw error
      await supply(error.needs, kind === 'boot')
    }
  }
}

async function supply(needs: string, booting: boolean): Promise<void> {
  const [what, minor] = needs.split('/')
  if (what === 'schema' && minor) {
    await engine?.ask('schema', { minor, data: await schemaData(minor) })
    return
  }
  if (what !== 'cel' || !manifest?.cel) throw new Error(text.engine.lacks(needs))
  await compile('cel').catch((error: Error) => { throw new Error(text.engine.noCEL(error.message)) })
  open('cel')
  if (!booting && engine) absorb(await engine.ask<Answer>('boot', bootBody()))
}
