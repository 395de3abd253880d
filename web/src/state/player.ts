// The player: which frame the page looks at, and how that moves. live follows the newest frame; everything else looks
// at the past, which needs no engine, because the picture is a fold over the frames up to the one in view.
import { computed, effect, signal, untracked } from '@preact/signals'
import { Folder, interesting, type Known, type Picture } from '../timeline/fold'
import { foldAway } from '../timeline/quiet'
import { pause } from './pace'
import { arrival, frames, head, lessonState, query, ready, run, showNow } from './session'

export const view = signal(0)
export const live = signal(true)
export const playing = signal(false)
export const speed = signal(1)
export const selected = signal(0) // the frame whose details are open; 0: none
export const hovered = signal(0) // the frame whose causes are lit; 0: none

/** lost are the commits that took away a value which their writer had not read. */
export const lost = signal<ReadonlySet<number>>(new Set())

/** rehearsing reports whether the opening story is playing. */
export const rehearsing = signal(false)

/** known are the lanes of the newest moment, as reported by the engine. */
export const known = signal<Known[]>([])

/** arrived says that the frame in view is the newest one: what the engine tells of now belongs to the picture. */
export const arrived = computed(() => live.value && view.value >= frames.value.length)

const always: Known[] = [{ id: 'store', horizon: '' }, { id: 'replica/1', horizon: '' }]
const folder = new Folder()

/** unfolded shows the lanes of quiet controllers, too. */
export const unfolded = signal(false)

export const picture = computed<Picture>(() => {
  const lanes = arrived.value ? [...always, ...known.value] : always
  const all = folder.fold(frames.value, view.value, lanes)
  return unfolded.value ? all : foldAway(all, lanes)
})

/** still says that its user wants no motion that they did not ask for. */
export const still = typeof matchMedia === 'function' ? matchMedia('(prefers-reduced-motion: reduce)') : { matches: true }
const stepTime = 90 // ms of page time for each new frame while following
const longest = 900 - pause // ms until frames that came, at their pace, are in view, however many there are
const tick = 30 // ms between two pictures while catching up
const playTime = 420 // ms for each frame while playing, at speed 1

let timer = 0
let due: { n: number; at: number }[] = [] // frame n is to be in view at that moment
let exact = 0 // the frame in view, with the part of the next one that has passed
let last = 0 // when the picture moved last

effect(() => {
  const { before, reset, same } = arrival.value
  untracked(() => follow(before, frames.value.length, reset, same))
})

// follow is told that frames after number before have come; a reader of the past is left where they are. What is the same as
// before goes on where it is: the recording that the engine takes over.
function follow(before: number, newest: number, reset: boolean, same: boolean): void {
  if (same) return
  if (reset) {
    stop()
    live.value = true
    selected.value = 0
    hovered.value = 0
    view.value = newest
    return
  }
  if (!live.value) return
  if (rehearsing.value || still.matches || document.hidden || newest - view.value < 2) {
    stop()
    view.value = newest
    return
  }
  catchUp(newest, Math.min(stepTime * (newest - before), longest))
}

/** rehearse shows the frames there are one after the other, each as long as wait says, from the one after n: on its own only
 * where motion is wanted. */
export function rehearse(wait: (n: number) => number, n = 0, asked = false): void {
  if (document.hidden || (!asked && still.matches)) return
  stop()
  live.value = true
  rehearsing.value = true
  const next = () => {
    view.value = Math.min(view.value + 1, frames.value.length)
    if (view.value < frames.value.length) timer = window.setTimeout(next, wait(view.value))
    else rehearsing.value = false
  }
  view.value = n
  next()
}

function catchUp(newest: number, within: number): void {
  const now = performance.now()
  if (due.length === 0) {
    exact = view.value
    last = now
  }
  due.push({ n: newest, at: now + within })
  if (!timer) timer = window.setTimeout(advance, tick)
}

// advance goes as fast as the most urgent of the frames needs.
function advance(): void {
  timer = 0
  if (!live.value) {
    stop()
    return
  }
  const now = performance.now()
  let rate = 0
  for (const { n, at } of due) rate = Math.max(rate, at > now ? (n - exact) / (at - last) : Infinity)
  exact = Math.min(frames.value.length, rate === Infinity ? Math.max(...due.filter(d => d.at <= now).map(d => d.n)) : exact + rate * (now - last))
  last = now
  view.value = Math.max(view.value, Math.floor(exact + 1e-6))
  due = due.filter(({ n }) => n > view.value)
  if (due.length > 0) timer = window.setTimeout(advance, tick)
}

function stop(): void {
  clearTimeout(timer)
  timer = 0
  due = []
  rehearsing.value = false
}

/** look goes to frame n and stays there, unless n is the newest. */
export function look(n: number): void {
  stop()
  showNow()
  const newest = frames.value.length
  view.value = Math.max(0, Math.min(n, newest))
  live.value = view.value === newest
}

export const toStart = () => look(frames.value.length > 0 ? 1 : 0)
export const toEnd = () => look(frames.value.length)

/** ended says that there is nothing after the frame in view, and that going on would move the world: not in a lesson. */
export const ended = computed(() => lessonState.value !== null && view.value >= frames.value.length)

/** step moves by one frame. Forward from the newest frame, it lets time run to the next thing that happens, unless a lesson
 * runs: there only the learner moves the world. */
export function step(by: 1 | -1): void {
  playing.value = false
  showNow()
  if (by < 0 || view.value < frames.value.length) look(view.value + by)
  else if (!ended.value) void run('tick next')
}

/** nextInteresting goes to the next refusal, compaction, fault or check after the frame in view. */
export function nextInteresting(): void {
  showNow()
  const found = frames.value.find(frame => frame.n > view.value && interesting(frame))
  look(found ? found.n : frames.value.length)
  selected.value = found?.n ?? 0
}

/** togglePlay plays what has happened, from the start if the end is in view. Outside of lessons it goes on with what comes. */
export function togglePlay(): void {
  showNow()
  if (!playing.value && (ended.value || !ready.value) && view.value >= frames.value.length) look(1)
  playing.value = !playing.value
}

effect(() => {
  if (!playing.value) return
  const rate = speed.value
  let stopped = false
  const next = async () => {
    if (stopped) return
    if (view.value < frames.value.length) look(view.value + 1)
    else await goOn()
    if (!stopped) window.setTimeout(next, playTime / rate)
  }
  const first = window.setTimeout(next, 0)
  return () => {
    stopped = true
    clearTimeout(first)
  }
})

// goOn lets the world go on from its newest frame, as long as there is something to come.
async function goOn(): Promise<void> {
  live.value = true
  const { next } = lessonState.value || !ready.value ? { next: null } : await query<{ next: unknown }>('clock')
  const result = next ? await run('tick next') : null
  showNow() // who plays sets the pace
  if (!result?.ok) playing.value = false
}

/** opInView is the number of the last operation that is over at the frame in view. */
export const opInView = computed(() => (arrived.value ? head.value.n : opAt(view.value)))

/** opAt is the number of the last operation that is over at frame n. */
export function opAt(n: number): number {
  const op = frames.value[n - 1]?.op ?? 0
  return frames.value[n]?.op === op ? Math.max(0, op - 1) : op
}

/** moment is what a query takes along to be answered as things were at the frame in view; nothing at the newest one. */
export const moment = computed<{ n?: number }>(() => (live.value || opInView.value === head.value.n ? {} : { n: opInView.value }))

/** revisionInView is the store's newest revision at the frame in view. */
export const revisionInView = computed(() => String(arrived.value ? head.value.rv : picture.value.head))
