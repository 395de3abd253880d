import { beforeAll, expect, test } from 'vitest'
import { bringMore } from '../text'
import { example } from './example'
import { problemsOf } from './problems'

const lines = (rehearsal: Parameters<typeof problemsOf>[1], lesson = example) => problemsOf(lesson, rehearsal).map(({ line }) => lesson.split('\n')[line - 1])

beforeAll(() => bringMore())

test('problems are shown at their lines', () => {
  const at = (path: string, text = 'x') => lines({ fault: { path, text } })[0]
  expect(at('steps[0].check[0]')).toBe('  - configmaps/lamp .data.color == blue')
  expect(at('steps[0].predict.options[1].if')).toBe('      if: status 204')
  expect(at('setup[0]')).toMatch(/^- create configmap lamp/)
  expect(at('steps[1].say')).toBe('- say: end')
  expect(at('', 'lesson.yaml is not YAML: yaml: line 3: mapping values are not allowed')).toMatch(/^about/)
  expect(at('', 'lesson.yaml: unknown field "hint"; package lesson says which')).toBe('  hint:')
  expect(at('', 'lesson.yaml: the field "check" has the wrong type: begin a line with "- " for each item')).toBe('  check:')
  expect(problemsOf(example, { fault: { path: '', text: 'id, title and about must be there' } })[0]?.line).toBe(0)
  expect(lines({ steps: [], stuck: { step: 1, why: 'z' } })).toEqual(['- say: end'])
  expect(problemsOf(example, { steps: [] })).toEqual([])
})
