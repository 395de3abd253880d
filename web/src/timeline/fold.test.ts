import { expect, test } from 'vitest'
import type { Frame } from '../engine/protocol'
import { chain, fold } from './fold'
import { layout } from './layout'

let n = 0
const frame = (lane: string, kind: string, rv: number, more: Partial<Frame> = {}): Frame =>
  ({ n: ++n, vt: n * 10, rv: String(rv), lane, kind, text: '', ...more })

// story: a watch falls silent, two writes follow, one of them refused, and history is forgotten behind the watch.
function story(): Frame[] {
  n = 0
  return [
    frame('client/a', 'http.req', 4),
    frame('store', 'store.commit', 5, { cause: 1 }),
    frame('replica/1', 'cache.apply', 5, { cause: 2 }),
    frame('watch/w', 'watch.event', 5, { cause: 3 }),
    frame('client/a', 'http.res', 5, { cause: 1, code: 201 }),
    frame('client/b', 'http.req', 5),
    frame('client/b', 'http.res', 9, { cause: 6, code: 409 }),
    frame('client/a', 'http.req', 5),
    frame('store', 'store.commit', 6, { cause: 8 }),
    frame('store', 'store.compact', 6),
  ]
}

test('lanes come in the order store, servers, watches, clients', () => {
  expect(fold(story(), 10).lanes.map(lane => lane.id)).toEqual(['store', 'replica/1', 'watch/w', 'client/a', 'client/b'])
})

test('a horizon is what a lane was told, and a refusal tells nothing', () => {
  const horizons = Object.fromEntries(fold(story(), 10).lanes.map(lane => [lane.id, lane.horizon]))
  expect(horizons).toEqual({ store: 6, 'replica/1': 5, 'watch/w': 5, 'client/a': 5, 'client/b': 0 })
})

test('scrubbing folds fewer frames', () => {
  const past = fold(story(), 3)
  expect([past.head, past.last, past.lanes.length]).toEqual([5, 3, 3])
})

test('a watch behind the curtain looks expired before anybody resumes it', () => {
  const expired = (upTo: number) => fold(story(), upTo).lanes.find(lane => lane.id === 'watch/w')?.expired
  expect([expired(9), expired(10)]).toEqual([false, true])
})

test('the chain of a frame is its causes and its effects, not its siblings', () => {
  expect([...chain(story(), 3)].sort((a, b) => a - b)).toEqual([1, 2, 3, 4])
  expect([...chain(story(), 1)].sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5])
})

test('no two marks of a lane are in one place, on either axis', () => {
  const frames = story().concat(frame('client/a', 'http.res', 5), frame('client/a', 'http.req', 5))
  for (const axis of ['revision', 'time'] as const) {
    const { x } = layout(frames, axis)
    const places = frames.map(f => `${f.lane} ${x(f.n)}`)
    expect(new Set(places).size).toBe(frames.length)
  }
})

test('a cause and its effect at one revision stand above each other', () => {
  const { x } = layout(story(), 'revision')
  expect([x(3), x(4)]).toEqual([x(2), x(2)])
})

test('on the axis of time a cause never stands behind its effect', () => {
  const at = { vt: 50 } // one moment: what happens in it has an order all the same
  const frames = story().map(f => ({ ...f, ...at }))
  const { x } = layout(frames, 'time')
  for (const f of frames) if (f.cause) expect(x(f.cause)).toBeLessThanOrEqual(x(f.n))
})

test('revisions in between and beyond have a place too', () => {
  const plan = layout(story(), 'revision')
  expect(plan.at(5)).toBeGreaterThan(plan.at(4))
  expect(plan.at(7)).toBeGreaterThan(plan.at(6))
  expect(plan.at(1)).toBe(0)
})
