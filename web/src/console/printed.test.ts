import { expect, test } from 'vitest'
import { detailed } from './printed'

const said = (line: string, ...lines: string[]) => ({ line, result: { ok: true, lines } })
const table = said('kubectl get pods -o wide', '   NAME   READY')
const request = said('get configmap a', '   you GET /api/v1/namespaces/default/configmaps/a → 200 OK, configmaps/a rv 4005')

test('the details of an answer that the terminal prints whole are not shown beside it', () => {
  expect(detailed([request, table])).toBe(false)
  expect(detailed([table, request])).toBe(true)
  expect(detailed([table, said('tick 1s', '   -- 00:00:01 (+1s)')])).toBe(false)
  expect(detailed([said('tick settled')])).toBe(undefined)
})
