// The user's own draft of a lesson, stored in this browser.
import { dialog, recall, remember } from '../state/page'

/** edited is the content that the builder starts with. */
let edited = ''

export const myDraft = (): string => recall('draft')
export const keepDraft = (content: string): void => remember('draft', content)
export const draftToEdit = (): string => edited

/** openBuilder opens the builder with a lesson, by default the user's own draft. */
export function openBuilder(content = myDraft()): void {
  edited = content
  dialog.value = 'builder'
}
