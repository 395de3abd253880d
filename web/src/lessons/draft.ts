// The lesson that somebody writes, kept in this browser.
import { dialog, recall, remember } from '../state/page'

/** edited is what the builder begins with. */
let edited = ''

export const myDraft = (): string => recall('draft')
export const keepDraft = (content: string): void => remember('draft', content)
export const draftToEdit = (): string => edited

/** openBuilder opens the builder with one's own draft, or with a lesson. */
export function openBuilder(content = myDraft()): void {
  edited = content
  dialog.value = 'builder'
}
