// axe looks at a page as it is, in two colour schemes and, where the window can be changed, at two widths.
import assert from 'node:assert/strict'
import { violations } from './browser.mjs'

export const wide = { width: 1440, height: 900 }
export const narrow = { width: 390, height: 844 }

// Over WebDriver a page keeps the scheme and the width that it was opened with: there it is told the scheme by its own choice.
async function change(page, colorScheme, viewport) {
  if (!page.emulateMedia) return page.evaluate(scheme => { document.documentElement.dataset.theme = scheme }, colorScheme)
  await page.emulateMedia({ colorScheme })
  await page.setViewportSize(viewport)
}

/** lookAt fails when axe finds something; afterwards the page is as wide as it was, and dark. */
export async function lookAt(page, name, width = wide) {
  for (const colorScheme of ['light', 'dark']) {
    for (const viewport of page.emulateMedia ? [narrow, width] : [width]) {
      await change(page, colorScheme, viewport)
      assert.deepEqual(await violations(page), [], `${name}, ${colorScheme}, ${viewport.width} px`)
    }
  }
}
