import { expect, test } from 'vitest'
import { examplesOf } from './examples'

test('examples are found by both addresses of the documentation, and other addresses are ignored', () => {
  const urls = ['https://k8s.io/examples/pods/simple-pod.yaml',
    'https://raw.githubusercontent.com/kubernetes/website/main/content/en/examples/application/deployment.yaml']
  const found = examplesOf(`kubectl apply -f ${urls[0]} -f ${urls[1]} -f https://k8s.io/examples/none.yaml`)
  expect(Object.keys(found)).toEqual(urls)
  expect(found[urls[1] as string]).toContain('replicas: 2')
  expect(examplesOf('kubectl apply -f https://example.com/pods/simple-pod.yaml')).toEqual({})
})
