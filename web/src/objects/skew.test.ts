import { expect, test, vi } from 'vitest'
vi.stubGlobal('document', { documentElement: { dataset: {} } })
vi.mock('../engine/engine', () => import('../state/fake-engine'))
vi.mock('../engine/files', () => ({ compile: vi.fn(), manifest: null, schemaData: vi.fn() }))
const { beside } = await import('./Skew')

test('a line of one server is next to null, and changed lines are next to each other', () => {
  const line = (op: string, text: string) => ({ op, text })
  expect(beside([line(' ', 'a'), line('-', 'b'), line('-', 'c'), line('+', 'd'), line(' ', 'e'), line('+', 'f')])).toEqual([
    ['a', 'a'], ['b', 'd'], ['c', null], ['e', 'e'], [null, 'f'],
  ])
})
