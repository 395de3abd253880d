import { expect, test } from 'vitest'
import type { Frame } from '../engine/protocol'
import { fold } from './fold'
import { foldAway } from './quiet'
import { wordsOf } from './words'

const frame = (n: number, lane: string): Frame => ({ n, vt: 0, rv: '5', lane, kind: 'reconcile', text: 'default/web writes 1' })

test('controllers without recent frames are hidden, unless they are in known', () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
  const frames = names.map((name, i) => frame(i + 1, `controller/${name}`))
  const picture = foldAway(fold(frames, frames.length), [])
  expect(picture.lanes.map(lane => lane.label)).toEqual(['c', 'd', 'e', 'f', 'g'])
  expect(picture.quiet?.map(lane => lane.label)).toEqual(['a', 'b'])
  const known = [{ id: 'controller/a', horizon: '5' }, { id: 'controller/z', horizon: '4' }]
  expect(foldAway(fold(frames, frames.length, known), known).lanes.map(lane => lane.label)).toEqual(['a', 'c', 'd', 'e', 'f', 'g', 'z'])
})

test('the commands for a lane depend on its state', () => {
  expect(wordsOf({ kind: 'replica', label: '2' })).toContain('lag 2')
  expect(wordsOf({ kind: 'replica', label: '2' }, 'cut')[0]).toBe('resume 2')
  expect(wordsOf({ kind: 'controller', label: 'job-controller' }, 'crashed')).toContain('start job-controller')
  expect(wordsOf({ kind: 'controller', label: 'job-controller' })).toContain('step job-controller')
  expect(wordsOf({ kind: 'watch', label: 'w' }, 'closed')).toEqual([])
  expect(wordsOf({ kind: 'client', label: 'op' }, '', { name: 'op', replica: 1, held: false, requests: 1, actor: { kind: 'controller' } })).toContain('crash op')
})
