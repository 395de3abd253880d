import { expect, test } from 'vitest'
import type { Frame } from '../engine/protocol'
import { chain, fold, Folder } from './fold'
import { layout, Planner } from './layout'
import { nextMark, stopOf } from './walk'

let n = 0
const frame = (lane: string, kind: string, rv: number, more: Partial<Frame> = {}): Frame =>
  ({ n: ++n, vt: n * 10, rv: String(rv), lane, kind, text: '', ...more })

// story returns frames in which a watch receives no more events, two writes follow, one of them is refused, and the watch's revision is
// compacted.
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

test('a horizon is the newest revision that a lane received, and a refusal does not move it', () => {
  const horizons = Object.fromEntries(fold(story(), 10).lanes.map(lane => [lane.id, lane.horizon]))
  expect(horizons).toEqual({ store: 6, 'replica/1': 5, 'watch/w': 5, 'client/a': 5, 'client/b': 0 })
})

test('scrubbing folds fewer frames', () => {
  const past = fold(story(), 3)
  expect([past.head, past.last, past.lanes.length]).toEqual([5, 3, 3])
})

test('the revision of the store is known before the first commit, and a refusal does not change it', () => {
  expect([1, 2, 7].map(upTo => fold(story(), upTo).head)).toEqual([4, 5, 5])
})

test('a watch behind the compacted revision is expired before it resumes', () => {
  const expired = (upTo: number) => fold(story(), upTo).lanes.find(lane => lane.id === 'watch/w')?.expired
  expect([expired(9), expired(10)]).toEqual([false, true])
})

test('a watch that its client reopens is open, and is closed only in between', () => {
  n = 0
  const frames = [
    frame('watch/w', 'watch.event', 5),
    frame('watch/w', 'watch.close', 5),
    frame('client/w', 'http.req', 5),
    frame('client/w', 'http.res', 5, { code: 200, text: '200 OK, watch w' }),
    frame('watch/w', 'watch.event', 6),
  ]
  expect(frames.map(({ n }) => fold(frames, n).lanes.find(lane => lane.id === 'watch/w')?.closed)).toEqual([false, true, true, false, false])
})

test('the chain of a frame is its causes and its effects, not its siblings', () => {
  expect([...chain(story(), 3)].sort((a, b) => a - b)).toEqual([1, 2, 3, 4])
  expect([...chain(story(), 1)].sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5])
})

test('no two marks of a lane have the same position, on either axis', () => {
  const frames = story().concat(frame('client/a', 'http.res', 5), frame('client/a', 'http.req', 5))
  for (const axis of ['revision', 'time'] as const) {
    const { x } = layout(frames, axis)
    const places = frames.map(f => `${f.lane} ${x(f.n)}`)
    expect(new Set(places).size).toBe(frames.length)
  }
})

test('a cause and its effect at the same revision have the same position', () => {
  const { x } = layout(story(), 'revision')
  expect([x(3), x(4)]).toEqual([x(2), x(2)])
})

test('on the time axis a cause is never to the right of its effect', () => {
  const at = { vt: 50 } // frames of one moment still have an order
  const frames = story().map(f => ({ ...f, ...at }))
  const { x } = layout(frames, 'time')
  for (const f of frames) if (f.cause) expect(x(f.cause)).toBeLessThanOrEqual(x(f.n))
})

test('revisions between and beyond the columns have a position', () => {
  const plan = layout(story(), 'revision')
  expect(plan.at(5)).toBeGreaterThan(plan.at(4))
  expect(plan.at(7)).toBeGreaterThan(plan.at(6))
  expect(plan.at(1)).toBe(0)
})

// far returns many frames on several lanes, with times and revisions that do not only grow.
function far(): Frame[] {
  const lanes = ['store', 'replica/1', 'replica/2', 'watch/w', 'client/a']
  const kinds = ['store.commit', 'cache.apply', 'cache.apply', 'watch.event', 'http.res']
  return Array.from({ length: 400 }, (_, i) => frame(lanes[i % 5] ?? '', kinds[i % 5] ?? '', 5 + Math.floor(i / 5) - (i % 7 === 0 ? 3 : 0), { n: i + 1, vt: i * 10 }))
}

test('folding in steps, forward and back, gives the same picture as folding at once', () => {
  const all = far()
  const folder = new Folder()
  for (const [length, upTo] of [[100, 40], [100, 100], [250, 200], [250, 10], [250, 250], [400, 251], [400, 400]] as const) {
    const frames = all.slice(0, length)
    expect(folder.fold(frames, upTo)).toEqual(fold(frames, upTo))
  }
  const other = all.map(f => ({ ...f, kind: 'store.compact' })) // another world: undo replaces every frame
  expect(folder.fold(other, 300)).toEqual(fold(other, 300))
})

test('a layout in steps is the same as a layout at once', () => {
  const all = far()
  for (const axis of ['revision', 'time'] as const) {
    const planner = new Planner()
    for (const length of [50, 51, 200, 400]) {
      const [grown, fresh] = [planner.plan(all.slice(0, length), axis, 900), layout(all.slice(0, length), axis, 900)]
      expect([grown.columns, grown.width]).toEqual([fresh.columns, fresh.width])
      expect(all.slice(0, length).map(f => grown.x(f.n))).toEqual(all.slice(0, length).map(f => fresh.x(f.n)))
    }
  }
})

test('arrow keys move within a lane and to the next one, and stop at the ends', () => {
  const { lanes } = fold(story(), 10)
  expect([nextMark(lanes, 2, 'ArrowRight'), nextMark(lanes, 9, 'ArrowLeft'), nextMark(lanes, 2, 'End'), nextMark(lanes, 10, 'Home')]).toEqual([9, 2, 10, 2])
  expect([nextMark(lanes, 2, 'ArrowDown'), nextMark(lanes, 3, 'ArrowUp'), nextMark(lanes, 10, 'ArrowDown')]).toEqual([3, 2, 3])
  expect([nextMark(lanes, 10, 'ArrowRight'), nextMark(lanes, 2, 'ArrowUp'), nextMark(lanes, 99, 'End'), nextMark(lanes, 2, 'x')]).toEqual(Array(4).fill(undefined))
})

test('a lane has one tab stop: the selected mark, or the last focused one, or the newest', () => {
  const store = fold(story(), 10).lanes[0]
  if (!store) throw new Error('there is a store')
  expect([stopOf(store, undefined, 0), stopOf(store, 2, 0), stopOf(store, 2, 9), stopOf(store, 2, 3)]).toEqual([10, 2, 9, 2])
})
