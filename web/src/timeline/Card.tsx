// Card is a short description of the mark that is hovered, touched or focused: its kind, its author, the server that answered, and what it
// changed. It also looks for lost updates in new commits, which the timeline then marks.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Exchange, Frame } from '../engine/protocol'
import { hovered, lost, view } from '../state/player'
import { frames, query, ready } from '../state/session'
import { text } from '../text'
import { Changed, commitBefore, compare } from './Changed'
import { overwrites, writerOf } from './changes'
import { describe, laneName } from './marks'
import { versions } from './Timeline'

export { Changed } // the inspector uses the same chunk

const wait = 180 // ms that the pointer has to rest on a mark
const margin = 8 // px between a card and its mark, and between a card and the edges of the window

export default function Card() {
  const n = useRested(hovered.value)
  useLostUpdates()
  const frame = n && n <= view.value ? frames.value[n - 1] : undefined
  return frame ? <Shown key={n} frame={frame} /> : null
}

// useRested returns the mark on which the pointer has rested, or 0.
function useRested(n: number): number {
  const [rested, setRested] = useState(0)
  useEffect(() => {
    setRested(0)
    if (!n) return
    const timer = setTimeout(() => setRested(n), wait)
    const leave = (event: Event) => {
      if (event instanceof KeyboardEvent ? event.key === 'Escape' : !(event.target as Element).closest('.mark')) hovered.value = 0
    }
    for (const name of leaving) addEventListener(name, leave, true)
    return () => {
      clearTimeout(timer)
      for (const name of leaving) removeEventListener(name, leave, true)
    }
  }, [n])
  return rested
}

const leaving = ['keydown', 'pointerdown', 'wheel']

function Shown({ frame }: { frame: Frame }) {
  const card = useRef<HTMLDivElement>(null)
  const [exchange, setExchange] = useState<Exchange | undefined>()
  useEffect(() => {
    if (frame.code === 409 && ready.value) query<Exchange>('exchange', { frame: frame.n }).then(setExchange, () => {})
  }, [frame])
  useLayoutEffect(() => {
    const box = card.current
    const place = () => { if (box) beside(box, frame.n) }
    place()
    const observer = new ResizeObserver(place) // the comparison arrives later and changes the card's size
    if (box) observer.observe(box)
    return () => observer.disconnect()
  }, [frame])
  const details = [actor(frame), server(frame)].filter(Boolean).join(', ')
  return (
    <div class="card" role="tooltip" ref={card}>
      <p><b>{text.kinds[frame.kind] ?? frame.kind}</b> <span class="num">{frame.n}</span></p>
      <p>{describe(frame)}</p>
      {details && <p class="hint">{details}</p>}
      {(frame.kind === 'store.commit' || exchange) && <Changed frame={frame} exchange={exchange} />}
    </div>
  )
}

// beside places a card below a mark, or above it if there is no space below, inside the window.
function beside(card: HTMLElement, n: number): void {
  const mark = document.getElementById(`f${n}`)?.getBoundingClientRect()
  if (!mark) return
  const { offsetWidth: width, offsetHeight: height } = card
  const left = Math.max(margin, Math.min(mark.left + mark.width / 2 - width / 2, innerWidth - width - margin))
  const below = mark.bottom + margin
  const top = below + height + margin > innerHeight ? Math.max(margin, mark.top - height - margin) : below
  card.style.left = `${left}px`
  card.style.top = `${top}px`
}

// actor returns the client or controller whose request or reconcile caused a commit, or ''.
function actor(frame: Frame): string {
  const cause = frame.kind === 'store.commit' ? frames.value[(frame.cause ?? 0) - 1] : undefined
  return cause && /^(client|controller)\//.test(cause.lane) ? text.changed.by(laneName(cause.lane)) : ''
}

// server returns the API server that handles a request, with its version, or ''.
function server({ kind, replica }: Frame): string {
  if (!replica || !kind.startsWith('http.')) return ''
  const version = versions.value.get(`replica/${replica}`)
  const name = [laneName(`replica/${replica}`), version].filter(Boolean).join(' ')
  return kind === 'http.req' ? text.changed.sentTo(name) : text.changed.answeredBy(name)
}

// useLostUpdates compares new commits that overwrite an object which their writer has not read.
function useLostUpdates(): void {
  const compared = useRef<{ n: number; last: Frame | undefined }>({ n: 0, last: undefined })
  useEffect(() => {
    const all = frames.value
    const { n, last } = compared.current
    const continued = all[n - 1] === last
    if (!continued && lost.value.size > 0) lost.value = new Set() // another world or another branch
    if (!ready.value) return
    for (const frame of all.slice(continued ? n : 0)) if (suspect(all, frame)) void find(frame)
    compared.current = { n: all.length, last: all.at(-1) }
  }, [frames.value, ready.value])
}

function suspect(all: readonly Frame[], frame: Frame): boolean {
  if (frame.kind !== 'store.commit' || frame.verb !== 'MODIFIED' || !writerOf(all, frame)) return false
  const before = commitBefore(frame)
  return before !== undefined && overwrites(all, frame, before)
}

async function find(frame: Frame): Promise<void> {
  const comparison = await compare(frame).catch(() => null) // the revisions are compacted and cannot be compared
  if (comparison && comparison.lost.length > 0 && frames.value[frame.n - 1] === frame) lost.value = new Set([...lost.value, frame.n])
}
