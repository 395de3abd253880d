import { expect, test } from 'vitest'
import type { Frame } from '../engine/protocol'
import { changes, unread } from './changes'

const paint = (rv: string, data: object) => ({ kind: 'ConfigMap', metadata: { name: 'paint', resourceVersion: rv }, data })

test('changes have both values, and omit the fields that every write changes', () => {
  expect(changes(paint('1', { color: 'red' }), paint('2', { color: 'blue', size: '4' }))).toEqual([
    { path: 'data.color', from: 'red', to: 'blue' }, { path: 'data.size', from: undefined, to: '4' },
  ])
  expect(changes({ a: [1, { b: true }] }, { a: [1, { b: false }] })).toEqual([{ path: 'a[1].b', from: 'true', to: 'false' }])
  expect(changes({ finalizers: [] }, {})).toEqual([{ path: 'finalizers', from: '[]', to: undefined }])
})

const request = (n: number, client: string): Frame => ({ n, vt: 0, rv: '0', lane: `client/${client}`, kind: 'http.req', text: 'PATCH /api/v1/namespaces/default/configmaps/paint' })
const commit = (n: number, cause: number): Frame => ({ n, vt: 0, rv: String(n), lane: 'store', kind: 'store.commit', cause, text: '', ref: 'configmaps default/paint' })

test('a write that removes a value which its writer has not read is a lost update', () => {
  const earlier = changes(paint('1', { color: 'red' }), paint('2', { color: 'blue' }))
  const now = changes(paint('2', { color: 'blue' }), paint('3', { color: 'green' }))
  const frames = [request(1, 'alice'), commit(2, 1), request(3, 'bob'), commit(4, 3)]
  const [, before, , after] = frames as [Frame, Frame, Frame, Frame]
  expect(unread(frames, after, before, earlier, now).map(one => one.path)).toEqual(['data.color'])
  expect(unread(frames, after, { ...before, cause: 3 }, earlier, now)).toEqual([]) // the writer's own value
  const read: Frame[] = [request(1, 'alice'), commit(2, 1), request(3, 'bob'), { ...request(4, 'bob'), kind: 'http.res', code: 200, cause: 3 },
    request(5, 'bob'), commit(6, 5)]
  expect(unread(read, read[5] as Frame, read[1] as Frame, earlier, now)).toEqual([])
})
