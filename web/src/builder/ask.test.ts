import { expect, test } from 'vitest'
import { askedAt, wordsAt } from './ask'

const condition = (typed: string) => ({ typed, condition: true })
const line = (typed: string) => ({ typed, condition: false })

test('conditions and commands are completed, and nothing else', () => {
  expect(askedAt('steps:\n- say: a\n  check:\n  - configmaps/la')).toEqual(condition('configmaps/la'))
  expect(askedAt('  check: [configmaps/a exists, count po')).toEqual(condition('count po'))
  expect(askedAt('    options:\n    - say: yes\n      if: stat')).toEqual(condition('stat'))
  expect(askedAt('    - {say: "200, and more", if: stat')).toEqual(condition('stat'))
  expect(askedAt('  solution:\n  - create configmap a\n  - get c')).toEqual(line('get c'))
  expect(askedAt('setup:\n- cre')).toEqual(line('cre'))
  expect(askedAt('  hint:\n  - Use ge')).toBeNull()
  expect(askedAt('title: My fi')).toBeNull()
  expect(askedAt('  text: |\n    Patch it')).toBeNull()
})

test('the words of a condition depend on the previous word', () => {
  const words = (typed: string) => wordsAt(typed, ['configmaps', 'pods'])
  expect(words('configmaps/a ex')).toEqual(['exists'])
  expect(words('count p')).toEqual(['pods'])
  expect(words('watch/w s')).toEqual(['saw'])
  expect(words('watch/w saw D')).toEqual(['DELETED'])
  expect(words('seen http.re')).toEqual(['http.req', 'http.res'])
  expect(words('not po')).toEqual(['pods/'])
  expect(words('pods/a .spec.nodeName con')).toEqual(['contains'])
  expect(words('pods/a .spec.nodeName == ')).toEqual([])
  expect(words('pods/a exists a')).toEqual(['and'])
})
