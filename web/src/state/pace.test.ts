import { expect, test, vi } from 'vitest'
import { few, paced, pause } from './pace'

vi.useFakeTimers()

test('the first changes are made at once, and a burst of changes is combined into one per pause', () => {
  let asked = 0
  const made: number[] = []
  const ask = paced(() => made.push(asked))
  const say = () => { asked++; ask() }
  say()
  say()
  expect(made).toEqual([1, 2]) // calls in the same task count once
  for (let n = 1; n < few + 10; n++) {
    vi.advanceTimersByTime(1)
    say()
  }
  expect(made).toEqual(Array.from({ length: few + 1 }, (_, i) => i + 1))
  vi.advanceTimersByTime(pause)
  expect(made.slice(few + 1)).toEqual([asked])
  say()
  say()
  vi.advanceTimersByTime(pause / 2)
  expect(made).toHaveLength(few + 2)
  vi.advanceTimersByTime(pause / 2)
  expect(made.slice(few + 1)).toEqual([asked - 2, asked])
  vi.advanceTimersByTime(few * pause)
  say()
  expect(made.at(-1)).toBe(asked)
})

test('no change is made without a call', () => {
  const change = vi.fn()
  paced(change)()
  vi.advanceTimersByTime(100 * pause)
  expect(change).toHaveBeenCalledTimes(1)
})
