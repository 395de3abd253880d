import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { english } from '../text.more.en'

const files = readdirSync(new URL('../panels', import.meta.url)).map(file => file.replace(/\.tsx$/, '')).sort()

test('each panel has a file and a label', () => { // text.test.ts requires the label in Chinese
  expect(Object.keys(english.tabs).sort()).toEqual(files)
})

test('each panel has a key of its own after g', () => {
  expect(new Set(files.map(name => name[0])).size).toBe(files.length)
})
