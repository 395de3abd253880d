// The stylesheets take spaces and sizes of text from the scales of base.css.
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const folder = new URL('.', import.meta.url).pathname
const sheets = readdirSync(folder).filter(file => file.endsWith('.css'))
const rules = sheets.flatMap(file => readFileSync(folder + file, 'utf8').replace(/\/\*.*?\*\//gs, '').split(/[;{}]/).map(rule => `${file}: ${rule.trim()}`))
const value = (rule: string): string => rule.replace(/^.*?: .*?: /, '')

test('spaces are those of one scale', () => {
  const spaces = rules.filter(rule => /: (padding|margin|gap|row-gap|column-gap)[a-z-]*: /.test(rule))
  const known = /calc\(-1 \* var\(--s[1-6]\)\)|var\(--s[1-6]\)|\b0\b|auto|!important/g
  const other = spaces.filter(rule => value(rule).replace(known, '').trim() !== '')
  expect(other).toEqual([])
  expect(spaces.length).toBeGreaterThan(100)
})

test('sizes of text are those of one scale', () => {
  const sizes = rules.filter(rule => /: font(-size)?: /.test(rule) && !rule.endsWith('font: inherit'))
  const other = sizes.filter(rule => !/^(\d+ )?var\(--(tiny|label|small|code|inline|text|read|lead|title)\)/.test(value(rule)))
  expect(other).toEqual([])
  expect(sizes.length).toBeGreaterThan(20)
})

test('what has no outline shows its focus in another way', () => {
  const css = sheets.map(file => readFileSync(folder + file, 'utf8')).join('\n')
  expect(css).toMatch(/^:focus-visible \{ outline: \d+px solid/m)
  const without = [...css.matchAll(/^\s*([^{}\n]+) \{[^{}]*outline: (?:none|0)/gm)].map(([, selector]) => selector)
  const shown = { '.prompt input': '.prompt:focus-within', '.mark': '.mark:focus-visible', '.handle': '.handle:focus-visible' }
  expect(without.sort()).toEqual(Object.keys(shown).sort())
  for (const instead of Object.values(shown)) expect(css).toContain(instead)
})
