import { expect, test } from 'vitest'
import { complaints, locate } from './locate'

const manifest = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  # how many
  replicas: -1
  template:
    spec:
      containers:
      - name: a
        image: x
      - name: b
        ports:
        - containerPort: 0
  selector: {}
`

test.each([
  ['kind', 2], ['spec.replicas', 7], ['spec.template.spec.containers[0].image', 12],
  ['spec.template.spec.containers[1].ports[0].containerPort', 15], ['spec.selector', 16],
  ['spec.strategy.type', 5], ['nothing', 0],
])('%s is on line %i', (path, line) => expect(locate(manifest, path)).toBe(line))

test('each cause of a Status gets its line', () => {
  const status = { message: 'no', details: { causes: [{ field: 'spec.replicas', message: 'must not be negative' }] } }
  expect(complaints(manifest, status)).toEqual([{ line: 7, text: 'spec.replicas: must not be negative' }])
})

test('unknown fields of strict validation get their lines', () => {
  const message = 'strict decoding error: unknown field "spec.replicas", unknown field "metadata.name"'
  expect(complaints(manifest, { message }).map(found => found.line)).toEqual([7, 4])
})
