import { expect, test } from 'vitest'
import { toYAML } from './yaml'

test('objects, lists and texts are printed as kubectl prints them', () => {
  const value = {
    kind: 'Pod', empty: {}, none: [], list: ['a', { b: 1, c: [true] }], nested: { x: null },
    text: 'two\nlines\n', open: 'two\nlines', image: 'nginx:1.29',
  }
  expect(toYAML(value)).toBe(`kind: Pod
empty: {}
none: []
list:
- a
- b: 1
  c:
  - true
nested:
  x: null
text: |
  two
  lines
open: |-
  two
  lines
image: nginx:1.29
`)
})

test.each(['true', 'no', '1', '1.5', '', ' a', 'a: b', '- a', '#x', '2026-01-01T00:00:00Z', '{x', '*a', 'a #b', '~'])(
  '%j stays a string', text => expect(toYAML({ k: text })).toBe(`k: ${JSON.stringify(text)}\n`),
)
