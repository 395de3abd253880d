// The tests of a server in this process and over a socket, without a client library.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refused, start } from 'kubesim'

const configMaps = '/api/v1/namespaces/default/configmaps'

/** begin starts a server that is closed at the end of the test. */
async function begin(t, options) {
  const srv = await start(options)
  t.after(() => srv.close())
  return srv
}

const create = (srv, name, fetch = srv.fetch, base = '') =>
  fetch(base + configMaps, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ metadata: { name } }) })

/** events returns a function that resolves with the next event of a watch, or undefined at its end. */
function events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  const lines = []
  return async () => {
    while (lines.length === 0) {
      const { done, value } = await reader.read()
      if (done) return undefined
      lines.push(...value.trimEnd().split('\n'))
    }
    return JSON.parse(lines.shift())
  }
}

test('objects are created, read, listed and deleted; errors are those of a real API server', async t => {
  const srv = await begin(t)
  assert.equal((await create(srv, 'a')).status, 201)
  const again = await create(srv, 'a')
  assert.equal(again.status, 409)
  assert.equal((await again.json()).message, 'configmaps "a" already exists')
  const list = await (await srv.fetch(new URL(`http://anywhere${configMaps}?limit=1`))).json()
  assert.deepEqual(list.items.map(({ metadata }) => metadata.name), ['a'])
  assert.equal((await srv.fetch(new Request(`http://anywhere${configMaps}/a`, { method: 'DELETE' }))).status, 200)
  assert.equal((await srv.fetch(`${configMaps}/a`)).status, 404)
  assert.equal(srv.version, (await (await srv.fetch('/version')).json()).gitVersion)
})

test('the same seed and the same requests give the same bytes', async t => {
  const [one, two, other] = [await begin(t, { seed: 5 }), await begin(t, { seed: 5 }), await begin(t, { seed: 6 })]
  const [a, b, c] = await Promise.all([one, two, other].map(async srv => (await create(srv, 'a')).text()))
  assert.equal(a, b)
  assert.notEqual(a, c)
})

test('a watch is a stream, which ends at its timeout, when it is cancelled, and with the server', async t => {
  const srv = await begin(t)
  const next = events(await srv.fetch(`${configMaps}?watch=true&timeoutSeconds=60`))
  await create(srv, 'a')
  assert.deepEqual(await next().then(({ type, object }) => [type, object.metadata.name]), ['ADDED', 'a'])
  srv.clock.advance('59s')
  await create(srv, 'b')
  assert.equal((await next()).object.metadata.name, 'b')
  srv.clock.advance(1000)
  assert.equal(await next(), undefined)

  const controller = new AbortController()
  const aborted = events(await srv.fetch(`${configMaps}?watch=true`, { signal: controller.signal }))
  await aborted()
  await aborted()
  controller.abort()
  await assert.rejects(aborted(), { name: 'AbortError' })
  await assert.rejects(srv.fetch(configMaps, { signal: AbortSignal.abort() }), { name: 'AbortError' })

  const left = await srv.fetch(`${configMaps}?watch=true&resourceVersion=0`)
  await left.body.cancel()
  const open = events(await srv.fetch(`${configMaps}?watch=true&fieldSelector=metadata.name=none`))
  await srv.close()
  await assert.rejects(open(), /connection was lost/)
  await assert.rejects(srv.fetch('/version'), /the server is closed/)
})

test('controllers and kubelets work while the server settles', async t => {
  const srv = await begin(t, { nodes: 3 })
  const spec = { replicas: 2, selector: { matchLabels: { app: 'web' } }, template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } } }
  await srv.fetch('/apis/apps/v1/namespaces/default/deployments', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ metadata: { name: 'web' }, spec }) })
  srv.settle()
  const { status } = await (await srv.fetch('/apis/apps/v1/namespaces/default/deployments/web')).json()
  assert.equal(status.readyReplicas, 2)
})

test('faults happen, and are listed and cleared', async t => {
  const srv = await begin(t)
  srv.faults.add('on create configmaps times=1 do fail Conflict')
  assert.equal(srv.faults.list().length, 1)
  assert.equal((await create(srv, 'a')).status, 409)
  assert.equal((await create(srv, 'a')).status, 201)
  srv.faults.add('on get configmaps do truncate 5')
  await assert.rejects(srv.fetch(`${configMaps}/a`).then(response => response.text()), /connection was lost/)
  srv.faults.clear()
  assert.deepEqual(srv.faults.list(), [])
  srv.do('expire')
  const gone = events(await srv.fetch(`${configMaps}?watch=true&resourceVersion=1`))
  assert.equal((await gone()).object.code, 410)
})

test('a request that waits is answered when time passes', async t => {
  const srv = await begin(t)
  srv.faults.add('on get configmaps do delay-answer 30s')
  let status
  const waits = srv.fetch(`${configMaps}/a`).then(response => { status = response.status })
  await new Promise(resolve => setTimeout(resolve, 20))
  assert.equal(status, undefined)
  srv.clock.advance('30s')
  await waits
  assert.equal(status, 404)
})

test('a real clock follows the time of day', async t => {
  const srv = await begin(t, { clock: 'real' })
  assert.ok(Math.abs(srv.clock.now() - Date.now()) < 1000)
  const next = events(await srv.fetch(`${configMaps}?watch=true&timeoutSeconds=1`))
  assert.equal(await next(), undefined)
  assert.throws(() => srv.clock.advance('5m'), /clock: "manual"/)
})

test('several API servers of other versions, and rights', async t => {
  const srv = await begin(t, { replicas: [{ version: '1.35' }, { version: '1.37' }], auth: 'rbac' })
  srv.do('route other 2')
  const version = async agent => (await (await srv.fetch('/version', { headers: { authorization: 'Bearer admintoken', 'user-agent': agent } })).json()).minor
  assert.deepEqual([await version('one/1'), await version('other/1')], ['35', '37'])
  assert.equal((await srv.fetch(configMaps, { headers: { authorization: 'Bearer alicetoken' } })).status, 403)
})

test('CEL is evaluated', async t => {
  const srv = await begin(t)
  const crd = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'dogs.example.com' }, spec: { group: 'example.com', scope: 'Namespaced', names: { plural: 'dogs', kind: 'Dog' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: { legs: { type: 'integer' } }, 'x-kubernetes-validations': [{ rule: 'self.legs == 4' }] } } }] } }
  const post = (path, body) => srv.fetch(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  assert.equal((await post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd)).status, 201)
  srv.clock.advance('5s')
  const dogs = '/apis/example.com/v1/namespaces/default/dogs'
  const dog = (name, legs) => ({ apiVersion: 'example.com/v1', kind: 'Dog', metadata: { name }, legs })
  assert.equal((await post(dogs, dog('rex', 4))).status, 201)
  assert.equal((await post(dogs, dog('bug', 6))).status, 422)
})

test('over a socket: the same answers, a watch, bytes that are not text', async t => {
  const srv = await begin(t)
  assert.throws(() => srv.kubeconfig(), /call await srv.listen\(\) first/)
  const url = await srv.listen()
  assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/)
  assert.equal(await srv.listen(), url)
  assert.equal(JSON.parse(srv.kubeconfig()).clusters[0].cluster.server, url)
  const next = events(await fetch(`${url}${configMaps}?watch=true`))
  assert.equal((await create(srv, 'a', fetch, url)).status, 201)
  assert.equal((await next()).type, 'ADDED')
  const proto = await fetch(`${url}${configMaps}/a`, { headers: { accept: 'application/vnd.kubernetes.protobuf' } })
  const bytes = new Uint8Array(await proto.arrayBuffer())
  assert.equal(new TextDecoder().decode(bytes.subarray(0, 3)), 'k8s')
  const copy = await fetch(`${url}${configMaps}/a`, { method: 'PUT', body: bytes, headers: { 'content-type': 'application/vnd.kubernetes.protobuf' } })
  assert.equal(copy.status, 200)
  srv.faults.add('on get configmaps do truncate 5')
  await assert.rejects(fetch(`${url}${configMaps}/a`).then(response => response.text()))
  const taken = await begin(t)
  await assert.rejects(taken.listen({ port: Number(new URL(url).port) }), /leave out port to take a free one/)
})

test('errors name the option and its valid values', async () => {
  for (const [options, message] of [
    [{ nodez: 3 }, /^kubesim: start has no option "nodez": there are auth, bare, clock/],
    [{ nodes: -1 }, /nodes is -1: want a whole number from 0 to 5000/],
    [{ version: '1.99' }, /no version "1.99"; there are 1.34/],
    [{ controllers: ['nobody'] }, /there is no controller "nobody": there are \*, /],
    [{ replicas: [{}], version: '1.35' }, /version stands beside replicas: move it into each of them/],
    [{ replicas: [{ versoin: '1.35' }] }, /replicas\[0\] has no option "versoin"/],
    [{ images: { x: { start: 'soon' } } }, /images\["x"\]: start is "soon": want a duration/],
    [null, /start is null: want an object/],
  ]) await assert.rejects(start(options), { message })
  const srv = await start()
  assert.throws(() => srv.faults.add('on monday do nothing'), error => error instanceof Refused)
  assert.throws(() => srv.faults.add(''), /takes a text such as/)
  assert.throws(() => srv.do('explode'), /there are compact, expire/)
  assert.throws(() => srv.clock.advance('soon'), /such as "250ms"/)
  await srv.close()
  await srv.close()
})
