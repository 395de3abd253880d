// The player: which frame the page shows, and how that changes. If live, the page follows the newest frame. Otherwise it shows the past,
// which needs no engine, because the picture is a fold over the frames up to the one in view.
import { computed, effect, signal, untracked } from '@preact/signals'
import { Folder, interesting, type Known, type Picture } from '../timeline/fold'
import { foldAway } from '../timeline/quiet'
import { pause } from './pace'
import { arrival, frames, head, lessonState, query, ready, run, showNow } from './session'

export const view = signal(0)
export const live = signal(true)
export const playing = signal(false)
export const speed = signal(1)
export const selected = signal(0) // the frame whose details are open, or 0
export const hovered = signal(0) // the frame whose causes are highlighted, or 0

/** lost are the commits that removed a value which their writer had not read. */
export const lost = signal<ReadonlySet<number>>(new Set())

/** rehearsing reports whether recorded frames are being shown one after the other. */
export const rehearsing = signal(false)

/** known are the lanes at the newest frame, as reported by the engine. */
export const known = signal<Known[]>([])

/** arrived reports whether the newest frame is in view, so that the engine's current state matches the picture. */
export const arrived = computed(() => live.value && view.value >= frames.value.length)

const always: Known[] = [{ id: 'store', horizon: '' }, { id: 'replica/1', horizon: '' }]
const folder = new Folder()

/** unfolded reports whether the lanes of quiet controllers are shown too. */
export const unfolded = signal(false)

export const picture = computed<Picture>(() => {
  const lanes = arrived.value ? [...always, ...known.value] : always
  const all = folder.fold(frames.value, view.value, lanes)
  return unfolded.value ? all : foldAway(all, lanes)
})

/** still matches if the user prefers reduced motion. */
export const still = typeof matchMedia === 'function' ? matchMedia('(prefers-reduced-motion: reduce)') : { matches: true }
const stepTime = 90 // ms of page time for each new frame while following
const longest = 900 - pause // ms until new frames are in view, however many there are; together with pause this is 900
const tick = 30 // ms between two pictures while catching up
const playTime = 420 // ms for each frame while playing at speed 1

let timer = 0
let due: { n: number; at: number }[] = [] // the moments by which frames have to be in view
let exact = 0 // the frame in view, with the fraction of the next one that has passed
let last = 0 // time of the last call of advance

effect(() => {
  const { before, reset, same } = arrival.value
  untracked(() => follow(before, frames.value.length, reset, same))
})

// follow handles the arrival of the frames after number before. If the user looks at the past, the view stays. If the frames are the same
// as before, because the engine has taken over from its recording, the view stays too.
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

/** rehearse shows the existing frames after n, one after the other, each for wait(its number) ms. Unless the user has asked for it, it
 * does nothing if reduced motion is preferred. */
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

// advance moves the view as fast as the most urgent deadline requires.
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

/** look shows frame n and stops following the newest frame, unless n is the newest. */
export function look(n: number): void {
  stop()
  showNow()
  const newest = frames.value.length
  view.value = Math.max(0, Math.min(n, newest))
  live.value = view.value === newest
}

export const toStart = () => look(frames.value.length > 0 ? 1 : 0)
export const toEnd = () => look(frames.value.length)

/** ended reports whether a lesson is running and its newest frame is in view: playing further would change the world, which only the
 * learner may do. */
export const ended = computed(() => lessonState.value !== null && view.value >= frames.value.length)

/** step moves the view by one frame. Forward from the newest frame it advances time to the next timer, except in a lesson, where only the
 * learner changes the world. */
export function step(by: 1 | -1): void {
  playing.value = false
  showNow()
  if (by < 0 || view.value < frames.value.length) look(view.value + by)
  else if (!ended.value) void run('tick next')
}

/** nextInteresting shows the next refusal, compaction, fault or check after the frame in view. */
export function nextInteresting(): void {
  showNow()
  const found = frames.value.find(frame => frame.n > view.value && interesting(frame))
  look(found ? found.n : frames.value.length)
  selected.value = found?.n ?? 0
}

/** togglePlay starts or stops playing, from the first frame if the last one is in view. Outside of lessons, playing advances the world
 * after the last frame. */
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
    else await advanceWorld()
    if (!stopped) window.setTimeout(next, playTime / rate)
  }
  const first = window.setTimeout(next, 0)
  return () => {
    stopped = true
    clearTimeout(first)
  }
})

// advanceWorld advances the world to its next timer. If there is none, it stops playing.
async function advanceWorld(): Promise<void> {
  live.value = true
  const { next } = lessonState.value || !ready.value ? { next: null } : await query<{ next: unknown }>('clock')
  const result = next ? await run('tick next') : null
  showNow() // playing has a pace of its own
  if (!result?.ok) playing.value = false
}

/** opInView is the number of the last operation that is complete at the frame in view. */
export const opInView = computed(() => (arrived.value ? head.value.n : opAt(view.value)))

/** opAt returns the number of the last operation that is complete at frame n. */
export function opAt(n: number): number {
  const op = frames.value[n - 1]?.op ?? 0
  return frames.value[n]?.op === op ? Math.max(0, op - 1) : op
}

/** moment contains the parameters with which a query is answered as of the frame in view. It is empty for the newest frame. */
export const moment = computed<{ n?: number }>(() => (live.value || opInView.value === head.value.n ? {} : { n: opInView.value }))

/** revisionInView is the store's newest revision at the frame in view. */
export const revisionInView = computed(() => String(arrived.value ? head.value.rv : picture.value.head))
