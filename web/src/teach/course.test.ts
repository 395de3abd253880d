import { expect, test, vi } from 'vitest'

vi.stubGlobal('document', { documentElement: { dataset: {} } })
vi.mock('../engine/engine', () => import('../state/fake-engine'))
vi.mock('../engine/files', () => ({ compile: vi.fn(), manifest: null, schemaData: vi.fn() }))
const { titleOf } = await import('./course')

test('the title of a written lesson is shown without the quotes of YAML', () => {
  const titles = ['title: My lesson', 'title: "Lamps: red, blue"  ', "title: 'It is'", "title: Bob's lamp", 'about: none']
  expect(titles.map(line => titleOf(`id: mine\n${line}\nsteps: []`))).toEqual(['My lesson', 'Lamps: red, blue', 'It is', "Bob's lamp", ''])
})
