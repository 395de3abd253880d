import { beforeEach, expect, test, vi } from 'vitest'
import type { Result } from '../engine/protocol'
import { draftKey, drafts, dropDraft, keepDraft } from '../state/drafts'

vi.stubGlobal('document', { documentElement: { dataset: {} } })
vi.mock('../engine/engine', () => import('../state/fake-engine'))
vi.mock('../engine/files', () => ({ compile: vi.fn(), manifest: null, schemaData: vi.fn() }))
const { problemsOf } = await import('./ManifestEditor')

beforeEach(() => { drafts.value = {} })

const manifest = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  uid: 0a1b-2c\n  resourceVersion: "4005"\nspec:\n  replicas: -1\n'

test('a draft belongs to an object, not to its name', () => {
  expect(draftKey(manifest, 'configmaps/default/a')).toBe('0a1b-2c')
  expect(draftKey('kind: Binding\n', 'bindings/default/a')).toBe('bindings/default/a')
})

test('a draft is kept until it is sent, dropped, or equal to the original', () => {
  keepDraft('0a1b-2c', { rv: '4005', content: 'changed' }, manifest)
  keepDraft('other', { rv: '4006', content: 'changed, too' }, '')
  expect(drafts.value['0a1b-2c']).toEqual({ rv: '4005', content: 'changed' })
  keepDraft('0a1b-2c', { rv: '4005', content: manifest }, manifest)
  expect(drafts.value).toEqual({ other: { rv: '4006', content: 'changed, too' } })
  dropDraft('other')
  expect(drafts.value).toEqual({})
})

const refused = (code: number, body: object, headers: [string, string][] = []): Result => ({
  lines: [], ok: true,
  http: { client: 'you', replica: 1, req: { method: 'POST', path: '', headers: [], body: '' }, res: { code, headers, body: JSON.stringify(body) } },
})

test('each cause of a refusal is shown at its line', () => {
  const causes = [{ field: 'spec.replicas', message: 'must not be negative' }, { field: 'metadata.name', message: 'is taken' }, { field: 'x', message: 'unknown' }]
  expect(problemsOf(manifest, refused(422, { message: 'no', details: { causes } })).map(({ line }) => line)).toEqual([8, 4, 0])
})

test('warnings are shown', () => {
  const headers: [string, string][] = [['Warning', '299 - "unknown field \\"spec.replicas\\""'], ['Warning', '299 - "old version"']]
  expect(problemsOf(manifest, refused(201, {}, headers))).toEqual([{ line: 8, text: 'unknown field "spec.replicas"' }, { line: 0, text: 'old version' }])
})

test('a refusal by the engine is shown, and a success shows nothing', () => {
  expect(problemsOf(manifest, null)).toHaveLength(1)
  expect(problemsOf(manifest, { lines: [], ok: false, text: 'expected something else' })).toEqual([{ line: 0, text: 'expected something else' }])
  expect(problemsOf(manifest, refused(201, {}))).toEqual([])
})
