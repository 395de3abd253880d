// The address bar holds the world: after each operation the hash is written anew, without adding to the history.
import { effect } from '@preact/signals'
import { manifest } from '../engine/files'
import type { Boot, Op } from '../engine/protocol'
import { attached, bootBody, engineName, head, lessonState, ready } from '../state/session'
import { mostBytes, pack } from './codec'

const pause = 350 // ms between two operations from which on the address bar is written at once
const perOp = 1 // ms more for each operation of a log: packing it takes a while, and nobody waits for the address of a long one

/** linkLimit is the length from which on some programs cut a link. */
export const linkLimit = 8000

const engineHash = () => manifest?.[engineName.value]?.hash.slice(0, 12) ?? 'dev'

/** currentHash is the world as the part of a link after #, or "" for a world that is too large for a link, such as an imported cluster. */
export async function currentHash(): Promise<string> {
  const body = bootBody()
  return sizeOf(body.log ?? []) > mostBytes ? '' : pack(body, engineHash())
}

const sizeOf = (log: Op[]) => log.reduce((sum, { files }) => Object.values(files ?? {}).reduce((n, content) => n + content.length, sum), 0)

/** currentLink is a link to the world, or "" for a world that is too large for one. */
export async function currentLink(): Promise<string> {
  const hash = await currentHash()
  return hash && `${location.origin}${location.pathname}#${hash}`
}

/** lessonLink is a link to a lesson that somebody wrote, at its beginning. */
export async function lessonLink(own: string): Promise<string> {
  return `${location.origin}${location.pathname}#${await pack({ own, log: [] }, engineHash())}`
}

const unsaved = 'kubesim.unsaved'

/** takeUnsaved is a world that the tab had when it was left before the address bar was written, if its address is this one. */
export function takeUnsaved(): Boot | null {
  try {
    const kept = JSON.parse(sessionStorage.getItem(unsaved) ?? 'null') as { address: string; world: Boot } | null
    sessionStorage.removeItem(unsaved)
    return kept?.address === location.href ? kept.world : null
  } catch {
    return null
  }
}

/** keepAddress writes the address bar from now on, except of the world that the page opens with anyway. */
export function keepAddress(opening: () => boolean): void {
  let timer = 0
  let last = 0
  let written = 0 // operations that the address has
  addEventListener('pagehide', () => {
    if (written === head.value.n || !ready.value || attached.value || opening()) return
    try {
      sessionStorage.setItem(unsaved, JSON.stringify({ address: location.href, world: bootBody() }))
    } catch {
      // Storage is refused or full: the address keeps the last state that was written.
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
    // At once, unless many operations follow each other: some browsers take no more than three a second.
    const wait = n < 500 ? pause : pause + n * perOp
    if (n < 500 && performance.now() - last > pause) write()
    else timer = window.setTimeout(write, wait)
  })
}
