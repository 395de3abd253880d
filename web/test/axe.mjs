// axe looks at a page as it is, at two widths in two colour schemes.
import assert from 'node:assert/strict'
import AxeBuilder from '@axe-core/playwright'

export const wide = { width: 1440, height: 900 }
const narrow = { width: 390, height: 844 }

/** lookAt fails when axe finds something in one of the four; afterwards the page is as wide as before. */
export async function lookAt(page, name, width = wide) {
  for (const colorScheme of ['light', 'dark']) {
    for (const viewport of [narrow, width]) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize(viewport)
      const { violations } = await new AxeBuilder({ page }).analyze()
      assert.deepEqual(violations.map(v => `${name}, ${colorScheme}, ${viewport.width} px: ${v.id}: ${v.nodes[0]?.html.slice(0, 160)} ${v.nodes[0]?.failureSummary}`), [])
    }
  }
}
