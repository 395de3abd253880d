// CompactHandle is the handle at the edge of the compacted history. Dragging it, or the arrow keys, select the revision to compact up to.
// Releasing it, or Enter, runs compact.
import { useSignal } from '@preact/signals'
import { live } from '../state/player'
import { ready, run } from '../state/session'
import { text } from '../text'
import type { Picture } from './fold'
import type { Layout } from './layout'

const words = text.timeline

/** revisionAt returns the revision of the column at x or the nearest one left of it, but no revision after newest. */
export function revisionAt({ columns }: Layout, x: number, newest: number): number {
  const found = columns.findLast(column => column.x <= x)
  return Math.min(found?.key ?? 0, newest)
}

/** stepped returns the next revision to the left or right of from among the columns. */
export function stepped({ columns }: Layout, from: number, by: 1 | -1, newest: number): number {
  const next = by > 0 ? columns.find(column => column.key > from) : columns.findLast(column => column.key < from)
  return Math.min(next?.key ?? from, newest)
}

export function CompactHandle({ shown, plan, height }: { shown: Picture; plan: Layout; height: number }) {
  const chosen = useSignal(0) // the selected revision, or 0 if none is selected
  if (plan.axis === 'time' || !live.value || !ready.value || plan.columns.length === 0) return null
  const at = chosen.value || shown.compacted
  const x = at ? plan.at(at) + 13 : 6
  const choose = (rv: number) => { chosen.value = rv > shown.compacted ? rv : 0 }
  const release = () => {
    if (chosen.value) void run(`compact ${chosen.value}`)
    chosen.value = 0
  }
  const move = (event: PointerEvent & { currentTarget: SVGGElement }) => {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return
    const svg = event.currentTarget.ownerSVGElement
    if (svg) choose(revisionAt(plan, event.clientX - svg.getBoundingClientRect().left + svg.viewBox.baseVal.x - 13, shown.head))
  }
  const press = (event: KeyboardEvent) => {
    if (event.key === 'ArrowRight' || event.key === 'ArrowLeft') choose(stepped(plan, at, event.key === 'ArrowRight' ? 1 : -1, shown.head))
    else if (event.key === 'Enter') release()
    else if (event.key === 'Escape') chosen.value = 0
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <g class={chosen.value ? 'handle chosen' : 'handle'} role="slider" tabindex={0} aria-label={words.draw} aria-valuemin={shown.compacted}
      aria-valuemax={shown.head} aria-valuenow={at} aria-valuetext={at ? words.compacted(at) : words.nothingForgotten}
      onPointerDown={event => event.currentTarget.setPointerCapture(event.pointerId)} onPointerMove={move} onPointerUp={release}
      onPointerCancel={() => { chosen.value = 0 }} onKeyDown={press} onBlur={() => { chosen.value = 0 }}>
      <title>{words.draw}</title>
      {chosen.value > 0 && <rect class="area" x="0" y="0" width={x} height={height} />}
      <line class="limit" x1={x} x2={x} y1="0" y2={height} />
      <rect class="grip" x={x - 5} y="2" width="10" height="20" rx="3" />
    </g>
  )
}
