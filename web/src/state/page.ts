// The state of the page itself: which tab and dialog are open, the theme, and the line that is being typed.
import { effect, signal } from '@preact/signals'
import type { english } from '../text.more.en'

/** Tab is the name of a panel of the workspace (ui/panels.ts). */
export type Tab = keyof typeof english.tabs
export type Dialog = '' | 'lessons' | 'share' | 'keys' | 'situations' | 'builder' | 'stories' | 'course'
export type Theme = 'auto' | 'light' | 'dark'

export const tab = signal<Tab>('console')
export const dialog = signal<Dialog>('')
export const notice = signal('')
export const line = signal('')
/** openedLane is the id of the timeline lane whose commands are shown, or ''. */
export const openedLane = signal('')
/** inside is the kubectl exec command of the open shell in a container, or ''. */
export const inside = signal('')
export const theme = signal<Theme>((recall('theme') as Theme) || 'auto')
export const singleKeys = signal(recall('singleKeys') !== 'off')

/** object is the object that the objects tab shows, or null for a new manifest. */
export const object = signal<{ resource: string; ns: string; name: string } | null>(null)
export const resource = signal('configmaps')
/** mode is the view of the object in the objects tab. */
export const mode = signal<'edit' | 'owners' | 'diff' | 'wire' | 'skew'>('edit')

effect(() => {
  document.documentElement.dataset['theme'] = theme.value
  remember('theme', theme.value)
})
effect(() => remember('singleKeys', singleKeys.value ? 'on' : 'off'))

/** focusCommand focuses the command line. If text is given, it replaces the line. */
export function focusCommand(text?: string): void {
  if (text !== undefined) line.value = text
  requestAnimationFrame(() => {
    const input = document.getElementById('command') as HTMLInputElement | null
    input?.focus()
    input?.setSelectionRange(input.value.length, input.value.length)
    input?.scrollIntoView({ block: 'nearest' })
  })
}

/** recall and remember read and write a small value in localStorage. Without localStorage, values are not kept. */
export function recall(key: string): string {
  try {
    return localStorage.getItem(`kubesim.${key}`) ?? ''
  } catch {
    return ''
  }
}

export function remember(key: string, value: string): void {
  try {
    localStorage.setItem(`kubesim.${key}`, value)
  } catch {
    // Storage is not available (private window, full disk): the page works without it.
  }
}
