// What people type beside the commands of kubectl: a shell in a container, and manifests by the addresses of the documentation.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freePlay, says, type } from './browser.mjs'
import { hosted } from './hosted.mjs'

const it = hosted()

test('kubectl exec -it is a shell until exit', async () => {
  const { context, page, faults } = await it.open()
  await freePlay(page)
  await type(page, 'kubectl exec -it web -- sh')
  await says(page, /NotFound/)
  assert.equal(await page.locator('.prompt .sign').innerText(), '›')
  await type(page, 'kubectl run web --image=nginx')
  await type(page, 'tick settled')
  await type(page, 'kubectl exec -it web -- sh')
  await says(page, /A shell in the container/)
  assert.equal(await page.locator('.prompt .sign').innerText(), '#')
  await type(page, "echo 'a b' > /tmp/x")
  await type(page, 'cat /tmp/x')
  await says(page, /a b/)
  await type(page, 'exit')
  await type(page, 'kubectl get pods')
  await says(page, /web +1\/1/)
  assert.deepEqual(faults, [])
  await context.close()
})

test('a manifest of the documentation is there by its address', async () => {
  const { context, page, faults } = await it.open()
  await freePlay(page)
  await type(page, 'kubectl apply -f https://k8s.io/examples/controllers/nginx-deployment.yaml')
  await says(page, /deployment.apps\/nginx-deployment created/)
  await type(page, 'kubectl apply -f https://example.com/a.yaml')
  await says(page, /nothing is fetched from/)
  assert.deepEqual(faults, [])
  await context.close()
})
