// Drafts are what was typed into the editor of an object and not sent yet. They are kept by the object's uid, so that neither a
// look at something else nor a write by somebody else loses them.
import { signal } from '@preact/signals'

export interface Draft {
  rv: string // of the object that it began with
  content: string
}

export const drafts = signal<Record<string, Draft>>({})

/** draftKey is the uid of an object, read from its text, else its address: there are no two of one uid. */
export function draftKey(text: string, address: string): string {
  return /^ {2}uid: "?([\w-]+)"?$/m.exec(text)?.[1] ?? address
}

/** keepDraft keeps what was typed; what is as it was is no draft. */
export function keepDraft(key: string, draft: Draft, original: string): void {
  const { [key]: before, ...others } = drafts.value
  if (draft.content === original) {
    if (before) drafts.value = others
  } else drafts.value = { ...others, [key]: draft }
}

export function dropDraft(key: string): void {
  const { [key]: _, ...others } = drafts.value
  drafts.value = others
}
