// The clock of free play: simulated time passes as fast as real time. The world catches up when a timer is due and before a line runs, so
// that the log has a few ticks and not one for each second. The clock stands still while the page is hidden, and stops after an undo.
import { effect, signal } from '@preact/signals'
import type { TimelineView } from '../engine/protocol'
import { live } from './player'
import { attached, busy, lessonState, ready, run, ticking } from './session'

/** due is the time of the next timers, as reported by the engine. */
export const due = signal<TimelineView['next']>(null)

/** ahead is the time in whole seconds by which the page's clock is ahead of the world's. */
export const ahead = signal(0)

const second = 1000
const often = 250 // ms between two calls of look
let passed = 0 // ms that the world has not caught up with
let last = 0

effect(() => {
  passed = ahead.value = 0
  if (!ticking.value || !ready.value || lessonState.value || attached.value) return
  last = performance.now()
  const timer = window.setInterval(look, often)
  return () => clearInterval(timer)
})

function look(): void {
  const now = performance.now()
  if (!document.hidden && live.value && busy.value === 0) passed += Math.min(now - last, second)
  last = now
  ahead.value = Math.floor(passed / second)
  if (busy.value === 0 && due.value && passed >= Math.max(second, due.value.in)) void catchUp()
}

/** catchUp advances the world to the time that the page shows. */
export async function catchUp(): Promise<void> {
  const seconds = ahead.value
  if (seconds === 0) return
  passed -= seconds * second
  ahead.value = 0
  await run(`tick ${seconds}s`, undefined, true)
}
