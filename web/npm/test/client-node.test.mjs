// The tests of @kubernetes/client-node, in this process and over a socket. CLIENT is the major version.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { start } from 'kubesim'
import { inProcess } from 'kubesim/client-node'

const major = process.env.CLIENT ?? '1'
const k8s = await import(`client-node-${major}`)
const namespace = 'default'
const path = '/api/v1/namespaces/default/configmaps'

/** ways are the connections from a client to a server. Each returns the factory of API clients, watches and informers. */
const ways = {
  'in process': async srv => inProcess(k8s, srv),
  'over a socket': async srv => {
    await srv.listen()
    const config = new k8s.KubeConfig()
    config.loadFromString(srv.kubeconfig())
    return {
      makeApiClient: api => config.makeApiClient(api),
      watch: new k8s.Watch(config),
      makeInformer: (...args) => k8s.makeInformer(config, ...args),
    }
  },
}

/** queue collects items. next resolves with the first item that has not been returned. */
function queue() {
  const items = []
  const waiting = []
  return {
    push(item) { if (waiting.length > 0) waiting.shift()(item); else items.push(item) },
    next: () => items.length > 0 ? Promise.resolve(items.shift()) : new Promise(resolve => waiting.push(resolve)),
  }
}

for (const [way, connect] of Object.entries(ways)) {
  const each = (name, body) => test(`client-node ${major} ${way}: ${name}`, { timeout: 120_000 }, async t => {
    const srv = await start()
    t.after(() => srv.close())
    const client = await connect(srv)
    await body(client.makeApiClient(k8s.CoreV1Api), client, srv, t)
  })

  each('objects are created, read, replaced, listed and deleted', async core => {
    const made = await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'a' }, data: { colour: 'red' } } })
    assert.equal(made.data.colour, 'red')
    made.data.colour = 'blue'
    await core.replaceNamespacedConfigMap({ name: 'a', namespace, body: made })
    assert.equal((await core.readNamespacedConfigMap({ name: 'a', namespace })).data.colour, 'blue')
    assert.deepEqual((await core.listNamespacedConfigMap({ namespace })).items.map(({ metadata }) => metadata.name), ['a'])
    await core.deleteNamespacedConfigMap({ name: 'a', namespace })
    assert.equal((await core.listNamespacedConfigMap({ namespace })).items.length, 0)
  })

  each('errors have the code and the Status of a real API server', async (core, _, srv) => {
    await assert.rejects(core.readNamespacedConfigMap({ name: 'none', namespace }), error => {
      assert.equal(error.code, 404)
      assert.equal(JSON.parse(error.body).message, 'configmaps "none" not found')
      return true
    })
    const made = await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'a' } } })
    await core.replaceNamespacedConfigMap({ name: 'a', namespace, body: { ...made, data: { a: '1' } } })
    await assert.rejects(core.replaceNamespacedConfigMap({ name: 'a', namespace, body: { ...made, data: { a: '2' } } }), { code: 409 })
    await assert.rejects(core.createNamespacedPod({ namespace, body: { metadata: { name: 'p' }, spec: { containers: [] } } }), { code: 422 })
    srv.faults.add('on list configmaps times=1 do fail TooManyRequests')
    await assert.rejects(core.listNamespacedConfigMap({ namespace }), { code: 429 })
  })

  each('patches', async core => {
    await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'a' }, data: { a: '1' } } })
    const patched = (body, strategy) => core.patchNamespacedConfigMap({ name: 'a', namespace, body }, k8s.setHeaderOptions('Content-Type', strategy))
    assert.deepEqual((await patched({ data: { b: '2' } }, k8s.PatchStrategy.MergePatch)).data, { a: '1', b: '2' })
    assert.deepEqual((await patched([{ op: 'remove', path: '/data/a' }], k8s.PatchStrategy.JsonPatch)).data, { b: '2' })
    assert.deepEqual((await patched({ data: { c: '3' } }, k8s.PatchStrategy.StrategicMergePatch)).data, { b: '2', c: '3' })
  })

  each('server-side apply, its owners and its conflicts', async (core, client) => {
    const apply = (fieldManager, colour, force) => core.patchNamespacedConfigMap({ name: 'a', namespace, fieldManager, force,
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { colour } } }, k8s.setHeaderOptions('Content-Type', k8s.PatchStrategy.ServerSideApply))
    assert.equal((await apply('one', 'red')).metadata.managedFields[0].manager, 'one')
    await assert.rejects(apply('two', 'blue'), error => error.code === 409 && /conflict with "one"/.test(JSON.parse(error.body).message))
    assert.equal((await apply('two', 'blue', true)).data.colour, 'blue')
    const objects = client.makeApiClient(k8s.KubernetesObjectApi)
    const applied = await objects.patch({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'b', namespace }, data: { a: '1' } }, undefined, undefined, 'one', true, k8s.PatchStrategy.ServerSideApply)
    assert.equal(applied.metadata.managedFields[0].operation, 'Apply')
  })

  each('a watch', async (core, { watch }) => {
    const events = queue()
    const ended = queue()
    const controller = await watch.watch(path, { allowWatchBookmarks: true }, (type, object) => type !== 'BOOKMARK' && events.push([type, object.metadata.name]), error => ended.push(error ?? 'done'))
    await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'a' } } })
    await core.deleteNamespacedConfigMap({ name: 'a', namespace })
    assert.deepEqual([await events.next(), await events.next()], [['ADDED', 'a'], ['DELETED', 'a']])
    controller.abort()
    assert.notEqual(await ended.next(), undefined)
    await watch.watch('/api/v1/nothing', {}, () => {}, error => ended.push(error))
    assert.equal((await ended.next()).statusCode, 404)
  })

  each('an informer keeps up, also after its watch has ended', async (core, client, srv, t) => {
    await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'a' } } })
    const events = queue()
    const informer = client.makeInformer(path, () => core.listNamespacedConfigMap({ namespace }))
    for (const verb of ['add', 'update', 'delete']) informer.on(verb, object => events.push([verb, object.metadata.name]))
    informer.on('error', error => events.push(['error', error]))
    await informer.start()
    t.after(() => informer.stop())
    assert.deepEqual(await events.next(), ['add', 'a'])
    srv.do('close 1') // ends all watches, like a server that shuts down
    await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'b' } } })
    await core.deleteNamespacedConfigMap({ name: 'a', namespace })
    assert.deepEqual([await events.next(), await events.next()], [['add', 'b'], ['delete', 'a']])
    assert.deepEqual(informer.list(namespace).map(({ metadata }) => metadata.name), ['b'])
  })
}
