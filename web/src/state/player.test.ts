import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Frame, LessonState } from '../engine/protocol'

vi.mock('../engine/engine', () => import('./fake-engine'))
vi.mock('../engine/files', () => ({ compile: vi.fn(), manifest: null, schemaData: vi.fn() }))
vi.stubGlobal('matchMedia', () => ({ matches: false }))
vi.stubGlobal('document', { hidden: false, documentElement: { dataset: {} } })
vi.stubGlobal('window', globalThis)
vi.useFakeTimers()

const { engines, sent } = await import('./fake-engine')
const session = await import('./session')
const player = await import('./player')

const made = (from: number, to: number): Frame[] => Array.from({ length: to - from }, (_, i) => ({
  n: from + i + 1, vt: 0, rv: String(from + i), lane: 'store', kind: 'store.commit', op: Math.floor((from + i) / 5) + 1, text: '',
}))
const send = (from: number, to: number, reset = false) => engines.at(-1)?.onFrames({ branch: '0', reset, frames: made(from, to) })

beforeEach(async () => {
  session.lessonState.value = null
  await session.start({ seed: '1' })
  send(0, 10, true)
  sent.length = 0
})
afterEach(() => {
  player.playing.value = false
  vi.clearAllTimers()
})

test('new frames are in view within 900 ms, but not at once', () => {
  send(10, 1010)
  vi.advanceTimersByTime(120)
  expect(player.view.value).toBeGreaterThan(10)
  expect(player.view.value).toBeLessThan(1010)
  expect(player.arrived.value).toBe(false) // the engine's current state is not mixed into the picture
  vi.advanceTimersByTime(830)
  expect(player.view.value).toBe(1010)
  expect(player.arrived.value).toBe(true)
})

test('a stream of lines does not accumulate delay: each is in view within 900 ms', () => {
  for (let i = 0; i < 40; i++) {
    send(10 + i * 7, 17 + i * 7)
    vi.advanceTimersByTime(50)
    const late = 10 + 7 * Math.max(0, i - 18) // the frames of 900 ms ago
    expect(player.view.value).toBeGreaterThanOrEqual(late)
  }
  vi.advanceTimersByTime(950)
  expect(player.view.value).toBe(290)
})

test('new frames do not move a view of the past', () => {
  player.look(4)
  send(10, 20)
  vi.advanceTimersByTime(2000)
  expect([player.view.value, player.live.value, player.opInView.value]).toEqual([4, false, 0])
  expect(player.moment.value).toEqual({})
  player.look(7)
  expect(player.opInView.value).toBe(1)
})

test('in a lesson, Play replays the existing frames and does not change the world', async () => {
  session.lessonState.value = { id: 'first' } as LessonState
  player.togglePlay()
  await vi.advanceTimersByTimeAsync(500)
  expect(player.view.value).toBeLessThan(10)
  await vi.advanceTimersByTimeAsync(10_000)
  expect([player.view.value, player.playing.value]).toEqual([10, false])
  player.step(1)
  await vi.advanceTimersByTimeAsync(1000)
  expect(sent.filter(({ kind }) => kind === 'do' || kind === 'tick')).toEqual([])
})

test('outside of lessons, Play advances the world', async () => {
  const { extra } = await import('./fake-engine')
  extra['clock'] = { next: { in: 5 } }
  player.togglePlay()
  await vi.advanceTimersByTimeAsync(1000)
  expect(sent.some(({ kind, body }) => kind === 'do' && JSON.stringify(body).includes('tick next'))).toBe(true)
})

test('the recording plays from its first frame, and the engine takes over at the same frame', () => {
  session.status.value = { state: 'loading' }
  session.show([{ branch: '0', reset: true, frames: made(0, 30) }])
  player.rehearse(() => 330)
  vi.advanceTimersByTime(3300)
  const at = player.view.value
  expect(at).toBeGreaterThan(5)
  expect(at).toBeLessThan(20)
  send(0, 30, true)
  expect(player.view.value).toBe(at)
  vi.advanceTimersByTime(10_000)
  expect(player.view.value).toBe(30)
})
