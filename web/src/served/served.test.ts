import { expect, test } from 'vitest'
import type { Resource } from '../engine/protocol'
import { Tracer, type Entry } from './frames'
import { bringMore } from '../text'
import { requestOf, words } from './lines'

await bringMore()

const resource = (group: string, version: string, name: string, kind: string, namespaced = true): Resource =>
  ({ group, version, resource: name, kind, namespaced, verbs: ['list'], short: name === 'configmaps' ? ['cm'] : [] })
const resources = [resource('', 'v1', 'configmaps', 'ConfigMap'), resource('', 'v1', 'namespaces', 'Namespace', false), resource('apps', 'v1', 'deployments', 'Deployment')]
const of = (line: string, files = {}) => requestOf(line, files, resources)

test('records become frames with causes; a decision has no frame and passes its cause on', () => {
  const at = { t: '2026-01-01T00:00:00Z' }
  const entries: Entry[] = [
    { ...at, n: 7, site: 'request.arrived', client: 'kubectl/v1.36', verb: 'create', what: 'configmaps', key: 'default/a' },
    { ...at, n: 8, site: 'request.decided', cause: 7 },
    { ...at, n: 9, site: 'store.committed', cause: 8, verb: 'ADDED', what: 'configmaps', key: 'default/a', rv: 12, client: 'kubectl/v1.36' },
    { ...at, n: 10, site: 'replica.applied', cause: 9, replica: 1, rv: 12 },
    { ...at, n: 11, site: 'watch.sent', cause: 9, client: 'op/v1', what: 'configmaps', verb: 'ADDED', key: 'default/a', rv: 12 },
    { ...at, n: 12, site: 'request.answered', cause: 7, code: 201 },
    { ...at, n: 13, site: 'store.committed', verb: 'ADDED', what: 'pods', key: 'default/p', rv: 13, client: 'replicaset-controller' },
  ]
  const tracer = new Tracer()
  const frames = [...tracer.take(entries.slice(0, 3)), ...tracer.take(entries.slice(3))]
  expect(frames.map(({ n, lane, kind, cause }) => [n, lane, kind, cause])).toEqual([
    [1, 'client/kubectl', 'http.req', undefined], [2, 'store', 'store.commit', 1], [3, 'replica/1', 'cache.apply', 2],
    [4, 'watch/op configmaps', 'watch.event', 2], [5, 'client/kubectl', 'http.res', 1], [6, 'store', 'store.commit', undefined],
  ])
  expect(frames[5]?.text).toContain('(replicaset-controller)')
  const known = new Tracer(new Set(['replicaset-controller'])).take(entries.slice(-1))
  expect(known.map(({ n, lane, kind, cause }) => [n, lane, kind, cause])).toEqual([[1, 'controller/replicaset-controller', 'reconcile', 0], [2, 'store', 'store.commit', 1]])
})

test('a line for a served cluster becomes a request, or an error that lists the alternatives', () => {
  expect(of('get cm')).toEqual({ method: 'GET', path: '/api/v1/namespaces/default/configmaps' })
  expect(of('get deployments.apps web -n shop').path).toBe('/apis/apps/v1/namespaces/shop/deployments/web')
  expect(of('get configmaps -A').path).toBe('/api/v1/configmaps')
  expect(of('delete namespaces x').path).toBe('/api/v1/namespaces/x')
  expect(of('lag 2 pods')).toEqual({ method: 'POST', path: '/sim/v1/replicas/2/lag?resource=pods' })
  expect(of('slow job-controller 5s').path).toBe('/sim/v1/controllers/job-controller/slow?for=5s')
  expect(of('stall 1 45s').path).toBe('/sim/v1/replicas/1/stall?after=45s')
  expect([of('step job-controller').path, of('reconcile').path, of('stepped yes').path, of('stepped no').path]).toEqual([
    '/sim/v1/controllers/job-controller/step', '/sim/v1/controllers/step', '/sim/v1/controllers/stepped?wait=true', '/sim/v1/controllers/stepped?wait=false',
  ])
  expect(of('tick 5m').path).toBe('/sim/v1/clock/advance?d=5m')
  expect(of('fault on update pods times=1 do fail Conflict')).toMatchObject({ path: '/sim/v1/faults', body: 'on update pods times=1 do fail Conflict' })
  expect(of(`request POST /x -f b -H 'Content-Type: application/json'`, { b: '{}' })).toEqual({ method: 'POST', path: '/x', body: '{}', type: 'application/json' })
  const yaml = 'apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n'
  expect(of('create -f d', { d: yaml })).toMatchObject({ method: 'POST', path: '/apis/apps/v1/namespaces/default/deployments' })
  expect(of('apply -f d -n shop', { d: yaml })).toMatchObject({ method: 'PATCH', path: '/apis/apps/v1/namespaces/shop/deployments/web?fieldManager=kubesim' })
  expect(() => of('undo')).toThrow('a served cluster accepts')
  expect(() => of('get nothings')).toThrow('there is no resource nothings')
  expect(words(`a 'b c' "d"`)).toEqual(['a', 'b c', 'd'])
})
