import { beforeEach, expect, test, vi } from 'vitest'
import { extra, sent } from '../state/fake-engine'

vi.stubGlobal('document', { documentElement: { dataset: {} } })
vi.mock('../engine/engine', () => import('../state/fake-engine'))
vi.mock('../engine/files', () => ({ compile: vi.fn(), manifest: null, schemaData: vi.fn() }))
const session = await import('../state/session')
const { manifests, putManifest } = await import('../state/manifests')
const { commonPrefix, opsOf, reach, runAll, withManifests } = await import('./prompt')

const item = (text: string) => ({ text, detail: '' })
const done = () => sent.filter(({ kind }) => kind === 'do').map(({ body }) => body['op'])

beforeEach(async () => {
  await session.start({ seed: '1' })
  sent.length = 0
})

test('Tab completes the common prefix of all candidates, or the only candidate and a space', () => {
  const at = (line: string, items: string[], prefix?: string) =>
    reach(line, { from: line.lastIndexOf(' ') + 1, to: line.length, items: items.map(item), ...(prefix ? { prefix } : {}) })
  expect(at('get conf', ['configmaps', 'configurations'])).toBe('get config')
  expect(at('get config', ['configmaps', 'configurations'])).toBe('get config')
  expect(at('get configm', ['configmaps'])).toBe('get configmaps ')
  expect(at('get pods --l', ['--limit='])).toBe('get pods --limit=')
  expect(at('kubectl get po', ['pod', 'pods', 'poddisruptionbudgets'], 'pod')).toBe('kubectl get pod')
  expect(commonPrefix(['a'])).toBe('a')
})

test('-f offers the manifests of the page, once', () => {
  putManifest('later.yaml', 'kind: Pod')
  const line = 'apply -f la'
  const names = withManifests(line, { from: 9, to: 11, items: [item('later.yaml')] }).items.map(({ text }) => text)
  expect(names).toEqual(['later.yaml'])
  expect(withManifests('apply -f ', { from: 9, to: 9, items: [] }).items.length).toBe(Object.keys(manifests.value).length)
  expect(withManifests('get la', { from: 4, to: 6, items: [] }).items).toEqual([])
})

test('pasted lines run one after the other; the engine splits shell texts', async () => {
  await runAll(await opsOf('$ create configmap a\n\n# a comment\n  get configmaps\n'))
  expect(done()).toEqual([{ line: 'create configmap a' }, { line: 'get configmaps' }])
  sent.length = 0
  extra['paste'] = { ops: [{ line: 'kubectl apply -f configmap-b.yaml', files: { 'configmap-b.yaml': 'kind: ConfigMap\n' } }] }
  await runAll(await opsOf('kubectl apply -f - <<EOF\nkind: ConfigMap\nEOF'))
  expect(done()).toEqual([{ line: 'kubectl apply -f configmap-b.yaml', files: { 'configmap-b.yaml': 'kind: ConfigMap\n' } }])
  expect(manifests.value['configmap-b.yaml']).toBe('kind: ConfigMap\n')
})
