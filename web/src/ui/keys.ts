// The keyboard shortcuts of the page. Single-letter shortcuts can be switched off, and are ignored while an input has the focus.
import { axis } from '../timeline/Timeline'
import { dialog, focusCommand, singleKeys, tab } from '../state/page'
import { live, nextInteresting, opInView, selected, step, toEnd, togglePlay, toStart, view } from '../state/player'
import { fork, ready, redo, undo } from '../state/session'
import { tabOfKey } from './panels'

let going = false // g was pressed, and the next letter selects a tab

const single: Record<string, () => unknown> = {
  ' ': togglePlay,
  k: togglePlay,
  ',': () => step(-1),
  '.': () => step(1),
  '>': nextInteresting,
  Home: toStart,
  End: toEnd,
  '/': () => focusCommand(),
  ':': () => focusCommand(),
  t: () => { tab.value = 'log' },
  x: () => { axis.value = axis.value === 'revision' ? 'time' : 'revision' },
  f: () => { if (!live.value) void fork(opInView.value) },
  s: () => { dialog.value = 'situations' },
  '?': () => { dialog.value = 'keys' },
  Enter: () => { selected.value = view.value },
  Escape: () => { selected.value = 0 },
}

function typing(target: Element): boolean {
  return target.closest('input:not([type=range], [type=radio], [type=checkbox]), textarea, select, [contenteditable]') !== null
    || target.shadowRoot !== null
}

// emptyCommand reports whether target is the command line and empty. While it has text, Ctrl+Z belongs to the input.
function emptyCommand(target: Element): boolean {
  return target.id === 'command' && (target as HTMLInputElement).value === ''
}

function control(target: Element, key: string): boolean {
  return (key === ' ' || key === 'Enter') && target.closest('button, a, summary, input, [role=button]') !== null
    || (key === 'Home' || key === 'End') && target.closest('input') !== null
}

export function listen(): void {
  addEventListener('keydown', event => {
    const target = event.target as Element
    if (dialog.value || (typing(target) && !emptyCommand(target))) return
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'z' && ready.value) {
      event.preventDefault()
      void (event.shiftKey ? redo() : undo())
      return
    }
    if (typing(target) || event.ctrlKey || event.metaKey || event.altKey || !singleKeys.value || control(target, event.key)) return
    const place = going ? tabOfKey(event.key) : undefined
    going = event.key === 'g'
    const act = place ? () => { tab.value = place } : single[event.key]
    if (!act) return
    event.preventDefault()
    act()
  })
}
