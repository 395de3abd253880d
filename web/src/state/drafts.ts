// Drafts are unsent texts in the editor of an object. They are stored by the object's uid, so that neither opening another object nor a
// write by another client loses them.
import { signal } from '@preact/signals'

export interface Draft {
  rv: string // the object's resourceVersion when the draft was begun
  content: string
}

export const drafts = signal<Record<string, Draft>>({})

/** draftKey returns the uid of an object, read from its text. If there is none, it returns the address. */
export function draftKey(text: string, address: string): string {
  return /^ {2}uid: "?([\w-]+)"?$/m.exec(text)?.[1] ?? address
}

/** keepDraft stores a draft. A draft that equals the original is removed. */
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
