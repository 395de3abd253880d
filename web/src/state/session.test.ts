import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Frame } from '../engine/protocol'
import { engines, extra, refuse, Refused, sent, stopped } from './fake-engine'

vi.mock('../engine/engine', () => import('./fake-engine'))
const compile = vi.hoisted(() => vi.fn(async () => ({})))
vi.mock('../engine/files', () => ({ compile, manifest: { core: {}, cel: {} }, schemaData: vi.fn() }))

const session = await import('./session')
const { few, pause } = await import('./pace')
const lines = () => session.transcript.value.map(entry => entry.line)

beforeEach(async () => {
  for (const key of Object.keys(extra)) delete extra[key]
  refuse.mockReset()
  compile.mockReset().mockResolvedValue({})
  await session.start({ seed: '1' })
})

afterEach(() => { vi.useRealTimers() })

test('lines that are sent before earlier ones are answered are all in the log', async () => {
  await Promise.all(['a', 'b', 'c', 'd'].map(name => session.run(`create configmap ${name}`)))
  expect(session.bootBody().log?.map(op => op.line)).toEqual(['create configmap a', 'create configmap b', 'create configmap c', 'create configmap d'])
  expect(session.bootBody().cursor).toBe(4)
})

test('a line after undo replaces the undone lines, in the log and in the transcript', async () => {
  await session.run('one')
  await session.run('two')
  await session.undo()
  expect(session.head.value).toMatchObject({ n: 1, total: 2 })
  await session.run('three')
  expect(session.bootBody().log?.map(op => op.line)).toEqual(['one', 'three'])
  expect(lines()).toEqual(['one', 'three'])
})

test('undo removes the line that was sent last, even if it is not answered yet', async () => {
  await session.undo() // nothing to undo
  await session.run('one')
  await Promise.all([session.run('two'), session.undo()])
  expect(session.head.value).toMatchObject({ n: 1, total: 2 })
  await session.redo()
  await session.redo() // beyond the end
  expect(session.head.value).toMatchObject({ n: 2, total: 2 })
  expect(lines()).toEqual(['one', 'two'])
})

test('the transcript of a world that begins with a log contains the answers', async () => {
  await session.bootWith({ log: [{ line: 'create configmap a' }, { line: 'list configmaps' }] })
  expect(session.transcript.value.map(({ line, result }) => [line, result?.lines])).toEqual([
    ['create configmap a', ['answer 1']], ['list configmaps', ['answer 2']],
  ])
})

test('the body of a boot contains the answers to the questions of a lesson', async () => {
  extra['boot'] = { lesson: { id: 'x', predicted: [null, { answer: 2 }, { answer: -1 }] } }
  await session.bootWith({ lesson: 'x' })
  expect(session.bootBody()).toMatchObject({ lesson: 'x', answers: { 1: 2 } })
})

test('if a world is refused, the current one stays', async () => {
  await session.run('one')
  refuse.mockImplementation(({ kind }) => (kind === 'boot' ? new Refused('there is no lesson "y"') : undefined))
  await expect(session.bootWith({ lesson: 'y' })).rejects.toThrow('no lesson')
  expect(session.bootBody()).toMatchObject({ seed: '1', log: [{ line: 'one' }] })
})

test('a reset keeps the first frames if its message says so', () => {
  const send = (frames: Frame[], keep?: number) => engines.at(-1)?.onFrames({ branch: '0', reset: true, frames, ...(keep === undefined ? {} : { keep }) })
  const [one, two, three, other] = [1, 2, 3, 3].map(n => ({ n }) as Frame) as [Frame, Frame, Frame, Frame]
  send([one, two, three])
  send([other], 2)
  expect(session.frames.value).toEqual([one, two, other])
  expect(session.frames.value[1]).toBe(two)
  expect(session.arrival.value).toEqual({ before: 0, reset: true, same: false })
  send([], 1)
  expect(session.frames.value).toEqual([one])
})

test('a burst of frames is shown together, and a reset at once', async () => {
  const send = (n: number, reset = false) => engines.at(-1)?.onFrames({ branch: '0', reset, frames: [{ n } as Frame] })
  const shown = () => session.frames.value.length
  await new Promise(resolve => setTimeout(resolve, pause * (few + 1))) // until earlier updates are complete
  vi.useFakeTimers()
  send(1, true)
  extra['do'] = { result: { lines: [], ok: true, http: { n: 7 } } }
  for (let n = 2; n < 9; n++) {
    send(n)
    await session.run(String(n))
    vi.advanceTimersByTime(1)
  }
  expect(shown()).toBe(1 + few)
  session.own.value = 0
  vi.advanceTimersByTime(pause)
  expect([shown(), session.own.value]).toEqual([8, 7])
  send(9)
  vi.advanceTimersByTime(1)
  expect(shown()).toBe(8)
  session.showNow()
  expect(shown()).toBe(9)
  send(10)
  send(1, true)
  expect([shown(), session.own.value]).toEqual([1, 0])
  vi.advanceTimersByTime(pause * few)
  expect(shown()).toBe(1)
})

test('the engine\'s frames are compared with the recording when they replace it, and not with lines that follow', async () => {
  const frames = [{ n: 1 } as Frame]
  const send = (...all: Frame[]) => engines.at(-1)?.onFrames({ branch: '0', reset: true, frames: all })
  session.show([{ branch: '0', reset: true, frames }])
  send({ n: 1 } as Frame)
  engines.at(-1)?.onFrames({ branch: '0', reset: false, frames: [{ n: 2 } as Frame] })
  expect(session.differs.value).toBe(false)
  session.show([{ branch: '0', reset: true, frames }])
  send({ n: 1, rv: '7' } as Frame)
  expect(session.differs.value).toBe(true)
})

test('if the larger engine cannot be loaded, the line reports it, and the world stays usable', async () => {
  const before = engines.length
  refuse.mockImplementation(({ kind, body }) => (kind === 'do' && JSON.stringify(body).includes('crd.yaml') ? new Refused('needs CEL', 'cel') : undefined))
  compile.mockRejectedValue(new Error('offline'))
  await session.run('one')
  expect(await session.run('create -f crd.yaml')).toBeNull()
  expect(session.transcript.value.at(-1)?.error).toMatch(/CEL.*offline.*unchanged/)
  expect([engines.length, stopped.some(engine => engine === engines[before - 1])]).toEqual([before, false])
  expect((await session.run('two'))?.ok).toBe(true)
})

test('the larger engine takes over the log, and the line is sent again', async () => {
  let asked = 0
  refuse.mockImplementation(({ kind }) => (kind === 'do' && asked++ === 1 ? new Refused('needs CEL', 'cel') : undefined))
  await session.run('one')
  await session.run('two')
  expect(session.engineName.value).toBe('cel')
  expect(sent.filter(({ kind }) => kind === 'boot').at(-1)?.body).toMatchObject({ log: [{ line: 'one' }] })
  expect(session.bootBody().log?.map(op => op.line)).toEqual(['one', 'two'])
})

test('the files of a scenario are files of its first operation', async () => {
  extra['log'] = { log: [{ line: 'controller op -f rules.yaml' }], files: { 'rules.yaml': 'watch: [pods]' }, seed: '3' }
  await session.bootWith({ scenario: 'controller op -f rules.yaml' })
  expect(session.bootBody()).toMatchObject({ seed: '3', log: [{ line: 'controller op -f rules.yaml', files: { 'rules.yaml': 'watch: [pods]' } }] })
})
