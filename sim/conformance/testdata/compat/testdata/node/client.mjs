// What programs ask with @kubernetes/client-node; 1 and 2 have the same calls.
import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import * as k8s from '@kubernetes/client-node';

const config = new k8s.KubeConfig();
config.loadFromDefault();
const core = config.makeApiClient(k8s.CoreV1Api);
const namespace = process.env.NS; // that nobody has
const map = (name, color) => ({ metadata: { name, labels: { app: 'paint' } }, data: { color } });

/** fails expects the code of an error. */
const fails = async (code, promise) => assert.rejects(promise, (e) => e.code === code);

/** until waits until f returns something. */
async function until(what, f) {
	for (const end = Date.now() + 60_000; ; await new Promise((done) => setTimeout(done, 20))) {
		const got = await f();
		if (got) return got;
		assert(Date.now() < end, `never: ${what}`);
	}
}

await core.createNamespace({ body: { metadata: { name: namespace } } });
const version = await config.makeApiClient(k8s.VersionApi).getCode();
assert.equal(version.major, '1');

// Create, read, replace, patch; errors.
const made = await core.createNamespacedConfigMap({ namespace, body: map('a', 'red') });
assert(made.metadata.uid && made.metadata.creationTimestamp instanceof Date);
await fails(409, core.createNamespacedConfigMap({ namespace, body: map('a', 'red') }));
await fails(422, core.createNamespacedConfigMap({ namespace, body: map('A', 'red') }));
await fails(404, core.readNamespacedConfigMap({ namespace, name: 'none' }));
await core.replaceNamespacedConfigMap({ namespace, name: 'a', body: { ...made, data: { color: 'blue' } } });
await fails(409, core.replaceNamespacedConfigMap({ namespace, name: 'a', body: made }));
const patched = await core.patchNamespacedConfigMap({ namespace, name: 'a', body: [{ op: 'replace', path: '/data/color', value: 'green' }] });
assert.equal(patched.data.color, 'green');

// Lists in pages, a watch from there.
await core.createNamespacedConfigMap({ namespace, body: map('b', 'red') });
const page = await core.listNamespacedConfigMap({ namespace, labelSelector: 'app=paint', limit: 1 });
assert.equal(page.items.length, 1);
const rest = await core.listNamespacedConfigMap({ namespace, labelSelector: 'app=paint', limit: 1, _continue: page.metadata._continue });
assert.equal(rest.metadata.resourceVersion, page.metadata.resourceVersion);
const seen = [];
const watch = await new k8s.Watch(config).watch(`/api/v1/namespaces/${namespace}/configmaps`, { resourceVersion: rest.metadata.resourceVersion, labelSelector: 'app=paint' },
	(type, object) => seen.push(`${type} ${object.metadata.name}`), () => {});
await core.deleteNamespacedConfigMap({ namespace, name: 'b' });
await until('the watch sees it', () => seen.includes('DELETED b'));
watch.abort();

// An informer.
const informer = k8s.makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, () => core.listNamespacedConfigMap({ namespace }));
await informer.start();
await core.createNamespacedConfigMap({ namespace, body: map('c', 'red') });
await until('the informer has it', () => informer.get('c', namespace));
await informer.stop();

// Objects of any kind; server-side apply.
const objects = k8s.KubernetesObjectApi.makeApiClient(config);
const definition = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'lamps.example.com' }, spec: {
	group: 'example.com', scope: 'Namespaced', names: { plural: 'lamps', kind: 'Lamp' }, versions: [{ name: 'v1', served: true, storage: true,
		schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { watts: { type: 'integer', _default: 9, 'default': 9 } } } } } } }] } };
await objects.create(definition);
const lamp = { apiVersion: 'example.com/v1', kind: 'Lamp', metadata: { name: 'desk', namespace }, spec: {} };
const desk = await until('the kind is served', () => objects.create(lamp).catch(() => undefined));
assert.equal(desk.spec.watts, 9);
const custom = config.makeApiClient(k8s.CustomObjectsApi);
const lamps = await custom.listNamespacedCustomObject({ group: 'example.com', version: 'v1', namespace, plural: 'lamps' });
assert.equal(lamps.items.length, 1);
const apply = (color, manager, force) => objects.patch({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'd', namespace }, data: { color } },
	undefined, undefined, manager, force, k8s.PatchStrategy.ServerSideApply);
await apply('red', 'alice');
await fails(409, apply('blue', 'bob'));
assert.equal((await apply('blue', 'bob', true)).data.color, 'blue');

if (!process.env.WITHOUT_NODES) {
	await core.createNamespacedPod({ namespace, body: { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'nginx', command: ['sh', '-c', 'echo started; sleep 600'] }] } } });
	await until('the pod runs', async () => (await core.readNamespacedPod({ namespace, name: 'p' })).status.phase === 'Running');
	await until('it has printed', async () => (await core.readNamespacedPodLog({ namespace, name: 'p' })).includes('started'));
	let out = '';
	const stdout = new Writable({ write(chunk, _, done) { out += chunk; done(); } });
	const status = await new Promise((done, failed) => {
		new k8s.Exec(config).exec(namespace, 'p', 'c', ['echo', 'hello'], stdout, null, null, false, done).catch(failed);
	});
	assert.equal(status.status, 'Success');
	assert.equal(out, 'hello\n');
}
await objects.delete(definition);
console.log('all is well');
process.exit(0);
