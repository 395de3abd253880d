// Switching between worlds: a lesson, free play, a scenario, a link. The link of the previous world stays in the history, so the browser's
// back button returns to it.
import { computed, signal } from '@preact/signals'
import { currentHash } from '../share/link'
import { unpack } from '../share/codec'
import { text } from '../text'
import { dialog, notice } from './page'
import { captionsOf } from './story'
import { opAt, still } from './player'
import { attached, bootWith, frames, head, lessonState, ready, start, story, ticking } from './session'
import type { Boot } from '../engine/protocol'

/** captions has a caption for each operation of the scenario that created the world. */
export const captions = computed(() => story.value?.captions ?? [])

/** opener is the scenario that the page opens with, or "" while it is not loaded. */
export const opener = signal('')
const length = signal(0) // operations of that scenario while its world is shown, otherwise 0

/** opening reports whether the world is the opening scenario, without any operation of the user. */
export const opening = computed(() => length.value > 0 && head.value.total === length.value)

/** captionAt returns the caption at frame n. */
export const captionAt = (n: number): string => captions.value[Math.max(0, Math.min(opAt(n), captions.value.length - 1))] ?? ''

const [word, least, shortest] = [250, 60, 1200] // ms to read a word, and the least ms for a frame and for a caption

/** readingTime returns the time in ms to show frame n: the frames of a caption together are shown as long as it takes to read it. */
export function readingTime(n: number): number {
  const caption = captionAt(n)
  const together = frames.value.filter(frame => captionAt(frame.n) === caption).length
  const words = caption.split(/\s+/).length + (caption.match(/\p{Script=Han}/gu)?.length ?? 0) / 2
  return Math.max(least, Math.max(shortest, words * word) / together)
}

/** enter replaces the current world. If the engine refuses the new one, enter shows a notice and returns false. */
export async function enter(boot: Boot): Promise<boolean> {
  dialog.value = ''
  if (ready.value && (head.value.n > 0 || lessonState.value) && !opening.value) {
    const hash = await currentHash()
    if (hash) history.replaceState(null, '', `#${hash}`)
    history.pushState(null, '', location.pathname + location.search)
  }
  return begin(boot)
}

export const enterLesson = (id: string) => enter({ lesson: id })

/** freePlay boots a new cluster with roles, controllers, load balancers, nodes and default classes, and without objects of the user. */
export const freePlay: Boot = { seed: '1', controllers: ['*', 'service-lb-controller', 'ingress-controller'], nodes: 3, whole: true, classes: true }
export const enterFreePlay = () => enter(freePlay)

/** startFreePlay starts the page's first engine with free play. */
export async function startFreePlay(): Promise<void> {
  await start(freePlay)
  ticking.value = !still.matches
}

async function begin(boot: Boot): Promise<boolean> {
  try {
    await (attached.value ? start(boot) : bootWith(boot))
    length.value = 0
    ticking.value = boot === freePlay && !still.matches
    return true
  } catch (error) {
    notice.value = `${text.share.refused}: ${(error as Error).message}`
    return false
  }
}

/** opens returns the boot of the opening scenario, and marks that world as the opening one as soon as the engine is ready. */
export function opens(scenario: string): Boot {
  const stop = ready.subscribe(there => {
    if (!there) return
    opened()
    stop()
  })
  return openingWorld(scenario)
}

// openingWorld boots the opening scenario with its story, which is shown beside this world only.
const openingWorld = (scenario: string): Boot => ({ scenario, story: { captions: captionsOf(scenario) } })

// opened marks the current world as the opening one.
function opened(): void {
  length.value = head.value.total
}

/** listenBack handles the browser's back and forward buttons. */
export function listenBack(): void {
  addEventListener('popstate', () => void goBack())
}

async function goBack(): Promise<void> {
  dialog.value = ''
  if (location.hash.length < 2) {
    if (opener.value && (await begin(openingWorld(opener.value)))) opened()
    return
  }
  try {
    await begin((await unpack(location.hash)).world)
  } catch (error) {
    notice.value = `${text.share.badLink}: ${(error as Error).message}`
  }
}
