// What the page itself is doing: which tab and dialog are open, the theme, and the line that is being typed.
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
/** openedLane is the id of the lane of the timeline whose commands are shown, or ''. */
export const openedLane = signal('')
/** inside is the kubectl exec of the shell in a container whose lines are typed, or ''. */
export const inside = signal('')
export const theme = signal<Theme>((recall('theme') as Theme) || 'auto')
export const singleKeys = signal(recall('singleKeys') !== 'off')

/** drawer says whether the details of a frame are beside what it is about; where there is little room they are at first not. */
export const drawer = signal(recall('drawer') ? recall('drawer') === 'open' : typeof matchMedia === 'function' && matchMedia('(min-width: 1181px)').matches)

export function toggleDrawer(): void {
  drawer.value = !drawer.value
  remember('drawer', drawer.value ? 'open' : 'closed')
}

/** object is the object that the objects tab shows. */
export const object = signal<{ resource: string; ns: string; name: string } | null>(null)
export const resource = signal('configmaps')
/** mode is how the objects tab shows its object. */
export const mode = signal<'edit' | 'owners' | 'diff' | 'wire' | 'skew'>('edit')

effect(() => {
  document.documentElement.dataset['theme'] = theme.value
  remember('theme', theme.value)
})
effect(() => remember('singleKeys', singleKeys.value ? 'on' : 'off'))

/** focusCommand goes to the command line, with a line put into it if one is given. */
export function focusCommand(text?: string): void {
  if (text !== undefined) line.value = text
  requestAnimationFrame(() => {
    const input = document.getElementById('command') as HTMLInputElement | null
    input?.focus()
    input?.setSelectionRange(input.value.length, input.value.length)
    input?.scrollIntoView({ block: 'nearest' })
  })
}

/** recall and remember keep small things in this browser; a browser that refuses storage forgets them. */
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
    // Storage is refused (private window, full disk): the page works without.
  }
}
