// The panels of the workspace. A panel is a file in src/panels and a label in the texts' tabs with the same name. The labels define the
// order of the tabs, and the key after g is the first letter of the name. panels.test.ts compares files and labels.
import type { FunctionComponent } from 'preact'
import Console from '../panels/console'
import type { Tab } from '../state/page'
import { text } from '../text'
import { later } from './later'

type Module = { default: FunctionComponent }

// The console is part of the page's first script; the other panels are fetched when they are first shown.
const files = import.meta.glob<Module>(['../panels/*.tsx', '!../panels/console.tsx'])

/** tabs are the names of the panels, from left to right. */
export const tabs = Object.keys(text.tabs) as Tab[]

/** panels are the panels by name. */
export const panels = Object.fromEntries(tabs.map(name => [name, panelOf(name)])) as Record<Tab, FunctionComponent>

/** tabOfKey returns the panel that the key opens after g, or undefined. */
export function tabOfKey(key: string): Tab | undefined {
  return tabs.find(name => name[0] === key)
}

function panelOf(name: Tab): FunctionComponent {
  if (name === 'console') return Console
  const load = files[`../panels/${name}.tsx`]
  if (!load) throw new Error(`text.tabs has ${name}, and there is no src/panels/${name}.tsx`)
  return later(load)
}
