import { beforeEach, expect, test, vi } from 'vitest'
import { extra, sent } from '../state/fake-engine'

vi.stubGlobal('document', { documentElement: { dataset: {} } })
vi.mock('../engine/engine', () => import('../state/fake-engine'))
vi.mock('../engine/files', () => ({ compile: vi.fn(), manifest: null, schemaData: vi.fn() }))
const session = await import('../state/session')
const { withoutReplicas } = await import('../state/rebuild')
const { line } = await import('../state/page')
const { putManifest } = await import('../state/manifests')
const { submit } = await import('./CommandLine')
const { begin } = await import('./Transcript')
const { paths, quote } = await import('./RawRequest')
const { captionsOf } = await import('../state/story')
const { effects } = await import('../lessons/Astray')
const { addServers } = await import('../actors/AddReplica')

beforeEach(async () => {
  await session.start({ seed: '1' })
  sent.length = 0
})

test('a line runs once, with the files that it names and the files that these name', async () => {
  putManifest('outer.yaml', 'do: create -f inner.yaml')
  putManifest('inner.yaml', 'kind: Pod')
  line.value = '  controller op -f outer.yaml  '
  await submit(line.value)
  expect(sent.filter(({ kind }) => kind === 'do').map(({ body }) => body['op'])).toEqual([
    { line: 'controller op -f outer.yaml', files: { 'outer.yaml': 'do: create -f inner.yaml', 'inner.yaml': 'kind: Pod' } },
  ])
  expect(line.value).toBe('')
  await submit('   ')
  expect(sent.filter(({ kind }) => kind === 'do')).toHaveLength(1)
})

test('help is answered and is not an operation', async () => {
  extra['help'] = { commands: [{ name: 'get', usage: 'get RESOURCE', text: 'reads', example: 'get pods' }] }
  await submit('help get')
  expect(session.head.value.n).toBe(0)
  expect(session.transcript.value.at(-1)).toMatchObject({ line: 'help get', help: [['get RESOURCE', 'reads'], ['get pods', expect.any(String)]] })
})

test('any text can be quoted as one word of the language', () => {
  expect([quote('/api/v1/pods'), quote('/api?watch=1&x=2'), quote(`it's`)]).toEqual(['/api/v1/pods', `'/api?watch=1&x=2'`, `'it'"'"'s'`])
})

test('paths are built from discovery, for every namespace', () => {
  const of = [{ group: 'apps', version: 'v1', resource: 'deployments', kind: 'Deployment', namespaced: true, verbs: [] }]
  expect(paths(of, ['a', 'b'])).toEqual(['/apis/apps/v1/deployments', '/apis/apps/v1/namespaces/a/deployments', '/apis/apps/v1/namespaces/b/deployments'])
})

test('a caption is the comment above an operation', () => {
  expect(captionsOf('# story\n\n# first\nlag 1\n\n# second\nsettle\nresume 1\n-- a.yaml --\n# no caption\nx: 1\n')).toEqual(['first', 'second', 'second'])
})

test('a log for one server more does not set the number of servers', () => {
  expect(withoutReplicas([{ line: 'replicas 2' }, { line: 'replica 1 version=1.35' }, { line: 'create configmap replicas' }])).toEqual([{ line: 'create configmap replicas' }])
})

test('unasked effects are described', () => {
  const done = effects({ n: 1, line: '', effects: [{ kind: 'created', of: 'pods default/a' }, { kind: 'time', of: '+1m0s' }, { kind: 'watch', of: 'mine' }] })
  expect(done).toBe('created pods default/a, let time pass: +1m0s, started the watch mine')
})

test('the newest entries are drawn; old ones are removed in groups, and drawn again when newer ones are undone', () => {
  const entries = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => ({ id: from + i }))
  expect(begin(entries(1, 31), 0)).toBe(0)
  let first = 0
  const begins = []
  for (let to = 2; to <= 600; to++) { // the transcript keeps 400
    const now = entries(Math.max(1, to - 400), to)
    const at = begin(now, first)
    expect(now.length - at).toBeLessThanOrEqual(60)
    expect(now.length - at).toBeGreaterThanOrEqual(Math.min(now.length, 40))
    first = now[at]?.id ?? 0
    begins.push(first)
  }
  expect(new Set(begins).size).toBeLessThan(30)
  expect(begin(entries(1, 101), 95)).toBe(60)
})

test('a server is added beside those of the engine, also before the panel has their list', async () => {
  extra['replicas'] = { replicas: [{ version: 'v1.36.3' }] }
  expect(await addServers([{ version: '1.35' }])).toBe(true)
  expect(sent.filter(({ kind }) => kind === 'boot').at(-1)?.body).toMatchObject({ replicas: [{ version: '1.36', gates: {} }, { version: '1.35' }] })
})
