// Track is the drawing: one row for each lane, one column for each revision, and the thread of causes over both.
// It draws the marks in sight only; the scroll position of its box says which those are.
import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import type { Frame, TokenSpan } from '../engine/protocol'
import { hovered, live, picture, selected, view } from '../state/player'
import { frames, own } from '../state/session'
import { text } from '../text.en'
import { chain, type Picture } from './fold'
import { layout, type Axis, type Layout } from './layout'
import { describe, laneName, Shape } from './marks'
import { Curtain, Horizon, Tokens } from './overlays'

export const rowHeight = 40
export const axisHeight = 28
const sight = 240 // px drawn beyond either edge of the box

export function Track({ axis, tokens }: { axis: Axis; tokens: TokenSpan[] }) {
  const box = useRef<HTMLDivElement>(null)
  const left = useSignal(0)
  const room = useSignal(0)
  const shown = picture.value
  const plan = useMemo(() => layout(frames.value, axis, room.value - 40), [frames.value, axis, room.value])
  const height = axisHeight + shown.lanes.length * rowHeight + 8
  const width = Math.max(plan.width + 20, room.value)
  const x = plan.x.get(view.value) ?? 0

  useLayoutEffect(() => {
    if (!box.current) return
    const observer = new ResizeObserver(([entry]) => { room.value = Math.floor(entry?.contentRect.width ?? 0) })
    observer.observe(box.current)
    return () => observer.disconnect()
  }, [])
  useEffect(() => keepInSight(box.current, x), [x, axis])

  const from = left.value - sight
  const to = left.value + (room.value || 1200) + sight
  return (
    <div class="track" ref={box} onScroll={() => { left.value = box.current?.scrollLeft ?? 0 }}>
      <svg width={width} height={height} role="group"
        aria-label={text.timeline.summary(shown.lanes.length, shown.last, String(shown.head))}
        onKeyDown={event => move(event, shown)} onPointerLeave={() => { hovered.value = 0 }}>
        <Grid plan={plan} height={height} from={from} to={to} />
        {shown.lanes.map((lane, row) => <Horizon key={lane.id} lane={lane} row={row} plan={plan} width={width} />)}
        <Curtain shown={shown} plan={plan} height={height} />
        <Thread shown={shown} plan={plan} />
        <Tokens tokens={tokens} shown={shown} plan={plan} />
        <line class="view" x1={x} x2={x} y1={axisHeight - 6} y2={height} />
        <Marks shown={shown} plan={plan} from={from} to={to} />
      </svg>
    </div>
  )
}

export function rowY(row: number): number {
  return axisHeight + row * rowHeight + rowHeight / 2
}

function keepInSight(box: HTMLDivElement | null, x: number): void {
  if (!box) return
  const room = box.clientWidth
  if (x > box.scrollLeft + room - 70) box.scrollLeft = x - room + 110
  else if (x < box.scrollLeft + 30) box.scrollLeft = Math.max(0, x - room / 3)
}

function Grid({ plan, height, from, to }: { plan: Layout; height: number; from: number; to: number }) {
  let labelled = -Infinity
  let last = NaN
  const start = plan.columns[0]?.key ?? 0
  return (
    <g class="grid" aria-hidden="true">
      {plan.columns.map((column, i) => {
        const label = column.key !== last && column.x - labelled >= 44
        last = column.key
        if (label) labelled = column.x
        if (column.x < from || column.x > to) return null
        const name = plan.axis === 'revision' ? String(column.key) : elapsed(column.key - start)
        return (
          <g key={i}>
            <line x1={column.x} x2={column.x} y1={axisHeight - 6} y2={height} />
            {label && <text x={column.x} y={14}>{name}</text>}
          </g>
        )
      })}
    </g>
  )
}

/** elapsed is a span of virtual time in few characters: 250ms, 1.5s, 3m20s, 2h. */
export function elapsed(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)}ms`
  if (ms < 60_000) return `${Math.round(ms / 100) / 10}s`
  const minutes = Math.floor(ms / 60_000)
  const seconds = Math.round((ms % 60_000) / 1000)
  if (minutes < 60) return seconds ? `${minutes}m${seconds}s` : `${minutes}m`
  const rest = minutes % 60
  return rest ? `${Math.floor(minutes / 60)}h${rest}m` : `${Math.floor(minutes / 60)}h`
}

// The thread joins what is lit: the mark under the pointer, else the one that is open, else the newest request.
function litFrame(shown: Picture): number {
  if (hovered.value) return hovered.value
  if (selected.value && selected.value <= shown.last) return selected.value
  if (!live.value) return shown.last
  if (own.value && own.value <= shown.last) return own.value
  for (let n = shown.last; n > 0; n--) if (frames.value[n - 1]?.kind === 'http.req') return n
  return 0
}

function Thread({ shown, plan }: { shown: Picture; plan: Layout }) {
  const lit = litFrame(shown)
  if (!lit) return null
  const rows = new Map(shown.lanes.map((lane, row) => [lane.id, row]))
  const set = chain(frames.value, lit)
  const spot = (frame: Frame) => [plan.x.get(frame.n) ?? 0, rowY(rows.get(frame.lane) ?? 0)] as const
  return (
    <g class="thread" aria-hidden="true">
      {[...set].map(n => {
        const frame = frames.value[n - 1]
        const cause = frame?.cause ? frames.value[frame.cause - 1] : undefined
        if (!frame || !cause || !set.has(cause.n) || frame.n > shown.last) return null
        const [x1, y1] = spot(cause)
        const [x2, y2] = spot(frame)
        const middle = (y1 + y2) / 2
        return <path key={n} d={`M${x1} ${y1} C${x1} ${middle} ${x2} ${middle} ${x2} ${y2}`} />
      })}
    </g>
  )
}

function Marks({ shown, plan, from, to }: { shown: Picture; plan: Layout; from: number; to: number }) {
  const lit = hovered.value ? chain(frames.value, hovered.value) : null
  const stop = selected.value || shown.last
  return (
    <g class={lit ? 'marks lit' : 'marks'}>
      {shown.lanes.map((lane, row) => lane.marks.map(frame => {
        const x = plan.x.get(frame.n) ?? 0
        if (frame.n !== stop && (x < from || x > to)) return null
        const forgotten = Number(frame.rv) <= shown.compacted && lane.kind !== 'client'
        const names = ['mark', lit?.has(frame.n) && 'on', frame.n === selected.value && 'chosen', forgotten && 'gone']
        return (
          <g key={frame.n} id={`f${frame.n}`} class={names.filter(Boolean).join(' ')} role="button"
            tabIndex={frame.n === stop ? 0 : -1} aria-label={describe(frame)} data-kind={frame.kind}
            transform={`translate(${x} ${rowY(row)})`}
            onPointerEnter={() => { hovered.value = frame.n }} onFocus={() => { hovered.value = frame.n }}
            onBlur={() => { hovered.value = 0 }} onClick={() => { selected.value = frame.n }}>
            <title>{describe(frame)}</title>
            <circle class="hit" r="12" />
            <Shape frame={frame} />
          </g>
        )
      }))}
    </g>
  )
}

// Left and right go through the marks of a lane, up and down to the nearest mark of the next lane.
function move(event: KeyboardEvent, shown: Picture): void {
  const n = Number((event.target as Element).id?.slice(1))
  const row = shown.lanes.findIndex(lane => lane.marks.some(mark => mark.n === n))
  const lane = shown.lanes[row]
  if (!lane) return
  const at = lane.marks.findIndex(mark => mark.n === n)
  let target: Frame | undefined
  if (event.key === 'ArrowRight') target = lane.marks[at + 1]
  else if (event.key === 'ArrowLeft') target = lane.marks[at - 1]
  else if (event.key === 'ArrowUp') target = nearest(shown.lanes[row - 1]?.marks, n)
  else if (event.key === 'ArrowDown') target = nearest(shown.lanes[row + 1]?.marks, n)
  else if (event.key !== 'Enter') return
  event.preventDefault()
  event.stopPropagation()
  const next = target?.n ?? n
  selected.value = next
  requestAnimationFrame(() => document.getElementById(`f${next}`)?.focus())
}

function nearest(marks: readonly Frame[] | undefined, n: number): Frame | undefined {
  return marks?.reduce((a, b) => (Math.abs(b.n - n) < Math.abs(a.n - n) ? b : a))
}

export { laneName }
