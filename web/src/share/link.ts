// The address bar contains the world: after each operation the hash is replaced, without a new entry in the history.
import { effect } from '@preact/signals'
import { manifest } from '../engine/files'
import type { Boot, Op } from '../engine/protocol'
import { attached, bootBody, engineName, head, lessonState, ready } from '../state/session'
import { mostBytes, pack } from './codec'

const pause = 350 // ms between two operations, beyond which the address bar is updated at once
const perOp = 1 // additional ms for each operation of a log, because packing a long log takes time and the address of one is not urgent

/** linkLimit is the length beyond which some programs cut a link off. */
export const linkLimit = 8000

const engineHash = () => manifest?.[engineName.value]?.hash.slice(0, 12) ?? 'dev'

/** currentHash returns the part of a link after the #, or "" if the world is too large for a link, such as an imported cluster. */
export async function currentHash(): Promise<string> {
  const body = bootBody()
  return sizeOf(body.log ?? []) > mostBytes ? '' : pack(body, engineHash())
}

const sizeOf = (log: Op[]) => log.reduce((sum, { files }) => Object.values(files ?? {}).reduce((n, content) => n + content.length, sum), 0)

/** currentLink returns a link to the world, or "" if the world is too large for one. */
export async function currentLink(): Promise<string> {
  const hash = await currentHash()
  return hash && `${location.origin}${location.pathname}#${hash}`
}

/** lessonLink returns a link to the first step of a lesson that a user wrote. */
export async function lessonLink(own: string): Promise<string> {
  return `${location.origin}${location.pathname}#${await pack({ own, log: [] }, engineHash())}`
}

const unsaved = 'kubesim.unsaved'

/** takeUnsaved returns the world that this tab had when it was left before the address bar was updated, if the address is still the same,
 * or null. */
export function takeUnsaved(): Boot | null {
  try {
    const kept = JSON.parse(sessionStorage.getItem(unsaved) ?? 'null') as { address: string; world: Boot } | null
    sessionStorage.removeItem(unsaved)
    return kept?.address === location.href ? kept.world : null
  } catch {
    return null
  }
}

/** keepAddress keeps the address bar up to date from now on, except while the world is the one that the page opens with. */
export function keepAddress(opening: () => boolean): void {
  let timer = 0
  let last = 0
  let written = 0 // operations that the address contains
  addEventListener('pagehide', () => {
    if (written === head.value.n || !ready.value || attached.value || opening()) return
    try {
      sessionStorage.setItem(unsaved, JSON.stringify({ address: location.href, world: bootBody() }))
    } catch {
      // Storage is not available or full: the address keeps the last state.
    }
  })
  effect(() => {
    const { n, branch } = head.value
    if (!ready.value || opening() || (n === 0 && branch === '0' && !lessonState.value)) return
    clearTimeout(timer)
    const write = () => {
      last = performance.now()
      void currentHash().then(hash => {
        if (head.value.n !== n || head.value.branch !== branch) return
        history.replaceState(null, '', hash ? `#${hash}` : location.pathname + location.search)
        written = n
      })
    }
    // Update at once unless many operations follow each other: some browsers allow only a few updates per second.
    const wait = n < 500 ? pause : pause + n * perOp
    if (n < 500 && performance.now() - last > pause) write()
    else timer = window.setTimeout(write, wait)
  })
}
