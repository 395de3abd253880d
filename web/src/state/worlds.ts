// Worlds that one goes to: a lesson, free play, a scenario, a link. Whoever leaves one finds it again with the browser's
// back button: its link stays in the history.
import { computed, signal } from '@preact/signals'
import { currentHash } from '../share/link'
import { unpack } from '../share/codec'
import { text } from '../text'
import { dialog, notice } from './page'
import { attached, bootWith, head, lessonState, ready, start } from './session'
import type { Boot } from '../engine/protocol'

/** captions say, for each operation of the scenario with which the page opens, what it is about. */
export const captions = signal<string[]>([])

/** opener is the scenario with which the page opens; "" until it is there. */
export const opener = signal('')
const length = signal(0) // operations of that scenario, while its world is there

/** opening says that the world is the one that the page opened with, and that nobody has done anything in it. */
export const opening = computed(() => length.value > 0 && head.value.total === length.value)

/** captionsOf reads the comments of a scenario: each is about the operations below it, the first one about all. */
export function captionsOf(scenario: string): string[] {
  const script = scenario.split(/^-- .* --$/m, 1)[0] ?? ''
  let now = ''
  const out: string[] = []
  for (const line of script.split('\n')) {
    if (line.startsWith('#')) now = line.slice(1).trim()
    else if (line.trim()) out.push(now)
  }
  return out
}

/** enter leaves the world there is for another one. It says so when the engine refuses it. */
export async function enter(boot: Boot): Promise<boolean> {
  dialog.value = ''
  if (ready.value && (head.value.n > 0 || lessonState.value) && !opening.value) {
    history.replaceState(null, '', `#${await currentHash()}`)
    history.pushState(null, '', location.pathname + location.search)
  }
  return begin(boot)
}

export const enterLesson = (id: string) => enter({ lesson: id })

/** freePlay is a world that nobody has done anything in: controllers and nodes are there, and wait for objects. */
export const freePlay: Boot = { seed: '1', controllers: ['*'], nodes: 3 }
export const enterFreePlay = () => enter(freePlay)

/** enterBare leaves for a world in which nothing works by itself, for what counts objects and revisions. */
export const enterBare = () => enter({ seed: '1' })

async function begin(boot: Boot): Promise<boolean> {
  try {
    await (attached.value ? start(boot) : bootWith(boot))
    length.value = 0
    return true
  } catch (error) {
    notice.value = `${text.share.refused}: ${(error as Error).message}`
    return false
  }
}

/** opens says that the first world that there will be is the one that the page opens with: it is known from its first moment on. */
export function opens(): void {
  const stop = ready.subscribe(there => {
    if (!there) return
    opened()
    stop()
  })
}

// opened notes that the world that is there now is the one that the page opens with.
function opened(): void {
  length.value = head.value.total
}

/** listenBack goes where the browser's back and forward buttons lead. */
export function listenBack(): void {
  addEventListener('popstate', () => void goBack())
}

async function goBack(): Promise<void> {
  dialog.value = ''
  if (location.hash.length < 2) {
    if (opener.value && (await begin({ scenario: opener.value }))) opened()
    return
  }
  try {
    await begin((await unpack(location.hash)).world)
  } catch (error) {
    notice.value = `${text.share.badLink}: ${(error as Error).message}`
  }
}
