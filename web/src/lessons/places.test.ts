import { expect, test } from 'vitest'
import type { LessonInfo } from '../engine/protocol'
import { curve } from './curve'
import { placeOf } from './places'

const info = (id: string, ...needs: string[]): LessonInfo => ({ id, title: id.toUpperCase(), about: '', level: 'basics', needs, minutes: 1, steps: 2, engine: 'core' })

test('a lesson is open if all lessons that it builds on are solved', () => {
  const all = [info('a'), info('b', 'a'), info('c', 'a', 'b')]
  const states = (progress: Record<string, { done: boolean }>) => all.map(one => placeOf(one, all, progress).state)
  expect(states({})).toEqual(['open', 'later', 'later'])
  expect(states({ a: { done: true } })).toEqual(['solved', 'open', 'later'])
  expect(states({ a: { done: true }, b: { done: true } })).toEqual(['solved', 'solved', 'open'])
  expect(placeOf(info('c', 'a', 'b'), all, {}).needs).toEqual(['A', 'B'])
  expect(placeOf(info('a'), all, {}).leadsTo).toEqual(['B', 'C'])
})

test('a line joins the sides of boxes in one row, and otherwise their lower and upper edges', () => {
  const box = (left: number, top: number) => ({ left, top, right: left + 100, bottom: top + 50 })
  expect(curve(box(0, 0), box(120, 0))).toBe('M100 25 C110 25 110 25 120 25')
  expect(curve(box(0, 0), box(200, 100))).toBe('M50 50 C50 75 250 75 250 100')
})
