import { beforeEach, expect, test, vi } from 'vitest'

// waiting are the requests without an answer, in the order in which they were sent.
const waiting = vi.hoisted(() => [] as { name: string; answer: (value: unknown) => void }[])
vi.mock('../state/session', () => {
  const send = (name: string) => new Promise(answer => waiting.push({ name, answer }))
  return { query: send, run: send }
})
vi.mock('../state/player', () => ({ moment: { value: 1 } }))

const { ask, plane, wait } = await import('./plane')
const view = (stepped: boolean) => ({ controllers: [], stepped })

// answer answers the oldest request that waits.
async function answer(name: string, value: unknown): Promise<void> {
  const first = waiting.shift()
  expect(first?.name).toBe(name)
  first?.answer(value)
  await new Promise(resolve => setTimeout(resolve))
}

beforeEach(() => {
  waiting.length = 0
  plane.value = view(false)
})

test('the answer to an older query is ignored', async () => {
  ask()
  ask()
  const [older] = waiting.splice(0, 1)
  await answer('controllers', view(true))
  expect(plane.value.stepped).toBe(true)
  older?.answer(view(false))
  await new Promise(resolve => setTimeout(resolve))
  expect(plane.value.stepped).toBe(true)
})

test('a choice is shown until its command has an answer, also if a query is answered before', async () => {
  ask()
  const done = wait(true)
  expect(plane.value.stepped).toBe(true)
  await answer('controllers', view(false)) // the state before the command
  expect(plane.value.stepped).toBe(true)
  await answer('stepped yes', { lines: [], ok: true })
  await done
  await answer('controllers', view(false)) // now the engine's answer counts
  expect(plane.value.stepped).toBe(false)
})

test('the first of two choices does not undo the second one', async () => {
  const first = wait(true)
  const second = wait(false)
  await answer('stepped yes', { lines: [], ok: true })
  await first
  expect(plane.value.stepped).toBe(false)
  await answer('stepped no', { lines: [], ok: true })
  await second
  await answer('controllers', view(false))
  expect(waiting).toEqual([])
})

test('a choice that the engine refuses is undone', async () => {
  const done = wait(true)
  await answer('stepped yes', null)
  await done
  expect(plane.value.stepped).toBe(false)
})
