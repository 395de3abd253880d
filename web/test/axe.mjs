// Runs axe on a page in its current state, at two widths in two colour schemes.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { tested } from './find.mjs'

const axe = readFileSync(new URL('../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8')

export const wide = { width: 1440, height: 900 }
const narrow = { width: 390, height: 844 }
const schemes = tested() === 'webkit' ? ['light'] : ['light', 'dark'] // WebKit's colour scheme is that of its theme, which is fixed at its start

/** lookAt fails if axe reports a violation in one of them. It restores the page's width. */
export async function lookAt(page, name, width = wide) {
  for (const colorScheme of schemes) {
    for (const viewport of [narrow, width]) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize(viewport)
      const rules = colorScheme === 'light' ? null : ['color-contrast'] // the other rules do not depend on colours
      assert.deepEqual(await violations(page, rules), [], `${name}, ${colorScheme}, ${viewport.width} px`)
    }
  }
}

/** violations returns the violations that axe reports for a page: their places and descriptions. rules are the rules to check; null means all. */
export async function violations(page, rules = null) {
  if (!await page.evaluate(() => 'axe' in window)) await page.evaluate(axe)
  return page.evaluate(async only => {
    const { violations } = await window.axe.run({ resultTypes: ['violations'], selectors: false, ...(only && { runOnly: only }) }) // only violations are reported
    return violations.map(({ id, nodes: [node] }) => `${id}: ${node.html.slice(0, 160)} ${node.failureSummary}`)
  }, rules)
}
