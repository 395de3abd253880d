// The player: which frame the page looks at, and how that moves. live follows the newest frame; everything else looks
// at the past, which needs no engine, because the picture is a fold over the frames up to the one in view.
import { computed, effect, signal, untracked } from '@preact/signals'
import { fold, interesting, type Known, type Picture } from '../timeline/fold'
import { arrival, frames, head, query, run } from './session'

export const view = signal(0)
export const live = signal(true)
export const playing = signal(false)
export const speed = signal(1)
export const selected = signal(0) // the frame whose details are open; 0: none
export const hovered = signal(0) // the frame whose causes are lit; 0: none

/** known are the lanes of the newest moment, as the engine tells them. */
export const known = signal<Known[]>([])

const always: Known[] = [{ id: 'store', horizon: '' }, { id: 'replica/1', horizon: '' }]

export const picture = computed<Picture>(() => fold(frames.value, view.value, live.value ? [...always, ...known.value] : always))

const still = typeof matchMedia === 'function' ? matchMedia('(prefers-reduced-motion: reduce)') : { matches: true }
const stepTime = 90 // ms of page time for each new frame while following
const longest = 900 // ms in all, however many frames came
const playTime = 420 // ms for each frame while playing, at speed 1

let timer = 0

effect(() => {
  const { before, reset } = arrival.value
  untracked(() => follow(before, frames.value.length, reset))
})

// follow is told that frames after number before have come; a reader of the past is left where they are.
function follow(before: number, last: number, reset: boolean): void {
  if (reset) {
    live.value = true
    selected.value = 0
    hovered.value = 0
    clearTimeout(timer)
    view.value = last
    return
  }
  if (!live.value) return
  if (still.matches || document.hidden || last - before < 2) {
    view.value = last
    return
  }
  advance(Math.min(stepTime, longest / (last - before)))
}

function advance(delay: number): void {
  clearTimeout(timer)
  if (!live.value || view.value >= frames.value.length) return
  view.value++
  timer = window.setTimeout(() => advance(delay), delay)
}

/** look goes to frame n and stays there, unless n is the newest. */
export function look(n: number): void {
  clearTimeout(timer)
  const last = frames.value.length
  view.value = Math.max(0, Math.min(n, last))
  live.value = view.value === last
}

export const toStart = () => look(frames.value.length > 0 ? 1 : 0)
export const toEnd = () => look(frames.value.length)

/** step moves by one frame; forward from the newest frame, it lets time run to the next thing that happens. */
export function step(by: 1 | -1): void {
  playing.value = false
  if (by > 0 && live.value) void run('tick next')
  else look(view.value + by)
}

/** nextInteresting goes to the next refusal, compaction, fault or check after the frame in view. */
export function nextInteresting(): void {
  const found = frames.value.find(frame => frame.n > view.value && interesting(frame))
  look(found ? found.n : frames.value.length)
  selected.value = found?.n ?? 0
}

export function togglePlay(): void {
  playing.value = !playing.value
}

effect(() => {
  if (!playing.value) return
  const rate = speed.value
  let stop = false
  const next = async () => {
    if (stop) return
    if (view.value < frames.value.length) look(view.value + 1)
    else {
      live.value = true
      const { next } = await query<{ next: unknown }>('clock')
      const result = next ? await run('tick next') : null
      if (!result?.ok) playing.value = false
    }
    if (!stop) window.setTimeout(next, playTime / rate)
  }
  const first = window.setTimeout(next, 0)
  return () => {
    stop = true
    clearTimeout(first)
  }
})

/** opInView is the number of the last operation that is over at the frame in view. */
export const opInView = computed(() => {
  if (live.value) return head.value.n
  const op = frames.value[view.value - 1]?.op ?? 0
  return frames.value[view.value]?.op === op ? Math.max(0, op - 1) : op
})

/** revisionInView is the store's newest revision at the frame in view. */
export const revisionInView = computed(() => String(live.value ? head.value.rv : picture.value.head))
