// Worlds that one goes to: a lesson, free play, a scenario, a link. Whoever leaves one finds it again with the browser's
// back button: its link stays in the history.
import { computed, signal } from '@preact/signals'
import { currentHash } from '../share/link'
import { unpack } from '../share/codec'
import { text } from '../text'
import { dialog, notice } from './page'
import { captionsOf } from './story'
import { opAt, still } from './player'
import { attached, bootWith, frames, head, lessonState, ready, start, story, ticking } from './session'
import type { Boot } from '../engine/protocol'

/** captions say, for each operation of the scenario that made the world, what it is about. */
export const captions = computed(() => story.value?.captions ?? [])

/** opener is the scenario with which the page opens; "" until it is there. */
export const opener = signal('')
const length = signal(0) // operations of that scenario, while its world is there

/** opening reports whether the world is the one that the page opened with, without any operation of the user. */
export const opening = computed(() => length.value > 0 && head.value.total === length.value)

/** captionAt is what the story says at frame n. */
export const captionAt = (n: number): string => captions.value[Math.max(0, Math.min(opAt(n), captions.value.length - 1))] ?? ''

const [word, least, shortest] = [250, 60, 1200] // ms to read a word, at least for each frame, and at least for each caption

/** readingTime is how long frame n is shown, so that its caption can be read while its frames go by. */
export function readingTime(n: number): number {
  const caption = captionAt(n)
  const together = frames.value.filter(frame => captionAt(frame.n) === caption).length
  const words = caption.split(/\s+/).length + (caption.match(/\p{Script=Han}/gu)?.length ?? 0) / 2
  return Math.max(least, Math.max(shortest, words * word) / together)
}

/** enter leaves the world there is for another one. It says so when the engine refuses it. */
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

/** freePlay is the boot of a new cluster with roles, controllers and nodes, and without objects of the user. */
export const freePlay: Boot = { seed: '1', controllers: ['*'], nodes: 3, whole: true }
export const enterFreePlay = () => enter(freePlay)

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

/** opens says that the first world that there will be is the one that the page opens with: it is known from its first moment on. */
export function opens(scenario: string): Boot {
  const stop = ready.subscribe(there => {
    if (!there) return
    opened()
    stop()
  })
  return openingWorld(scenario)
}

// The opening story is shown only beside its own world, until the user changes that.
const openingWorld = (scenario: string): Boot => ({ scenario, story: { captions: captionsOf(scenario) } })

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
    if (opener.value && (await begin(openingWorld(opener.value)))) opened()
    return
  }
  try {
    await begin((await unpack(location.hash)).world)
  } catch (error) {
    notice.value = `${text.share.badLink}: ${(error as Error).message}`
  }
}
