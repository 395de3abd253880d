import { expect, test, vi } from 'vitest'

vi.stubGlobal('document', { documentElement: { dataset: {} } })
vi.mock('../engine/engine', () => import('../state/fake-engine'))
vi.mock('../engine/files', () => ({ compile: vi.fn(), manifest: null, schemaData: vi.fn() }))
const { lineOf } = await import('./answer')

test('a fetch becomes a line, without the headers that browsers add', () => {
  expect(lineOf({ method: 'POST', path: '/api/v1/namespaces?dryRun=All', headers: [['accept', '*/*'], ['content-type', 'application/json'], ['user-agent', 'x'], ['sec-fetch-mode', 'cors']], body: '{}' }))
    .toBe(`request POST /api/v1/namespaces?dryRun=All --as fetch -H 'content-type: application/json' -f fetch-body`)
})
