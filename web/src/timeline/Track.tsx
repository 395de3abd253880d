// Track draws the lanes: one row for each lane, one column for each revision, and lines from causes to effects. It draws only the marks
// near the visible part of its scrolling box.
import { signal, useSignal } from '@preact/signals'
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import type { Frame, TokenSpan } from '../engine/protocol'
import { hovered, live, lost, picture, selected, view } from '../state/player'
import { frames, own } from '../state/session'
import { text } from '../text'
import { afterDrawing } from '../ui/draw'
import { chain, type Picture } from './fold'
import { elapsed } from './elapsed'
import { axisHeight, Planner, rowHeight, rowY, type Axis, type Layout } from './layout'
import { describe, hueOf, laneName, objectOf, Shape } from './marks'
import { CompactHandle } from './CompactHandle'
import { Compacted, Horizon, Tokens } from './overlays'
import { nextMark, stopOf } from './walk'

const sight = 240 // px that are drawn beyond either edge of the box

export function Track({ axis, tokens }: { axis: Axis; tokens: TokenSpan[] }) {
  const box = useRef<HTMLDivElement>(null)
  const left = useRef(0) // the left edge of the visible part
  const room = useSignal(0)
  const walked = useSignal(0) // counts scrolls that do not follow the frame in view; each renders the track again
  const shown = picture.value
  const planner = useRef(new Planner()).current
  const plan = useMemo(() => planner.plan(frames.value, axis, room.value - 40), [frames.value, axis, room.value])
  const height = axisHeight + shown.lanes.length * rowHeight + 8
  const width = Math.max(plan.width + 20, room.value)
  const x = plan.x(view.value)

  useLayoutEffect(() => {
    if (!box.current) return
    const observer = new ResizeObserver(([entry]) => { room.value = Math.floor(entry?.contentRect.width ?? 0) })
    observer.observe(box.current)
    return () => observer.disconnect()
  }, [])
  // goTo scrolls the box so that x is visible. Marks are drawn at their new positions first, and the box scrolls after that drawing.
  const goTo = (x: number) => {
    const to = Math.round(Math.min(scrolled(left.current, room.value, x), Math.max(0, width - room.value)))
    if (to === left.current) return
    left.current = to
    afterDrawing(() => { if (box.current && left.current === to) box.current.scrollLeft = to })
  }
  const going = useRef(goTo)
  going.current = goTo
  const show = useRef((x: number) => { // always the same function, so that unchanged marks are not rendered again
    const before = left.current
    going.current(x)
    if (left.current !== before) walked.value++
  }).current
  const scroll = () => {
    const to = box.current?.scrollLeft ?? 0
    if (to === left.current) return
    left.current = to
    walked.value++
  }
  void walked.value // subscribes to walked
  const followed = useRef('')
  const follows = `${x} ${axis} ${room.value > 0}`
  if (followed.current !== follows) {
    followed.current = follows
    goTo(x)
  }

  const from = left.current - sight
  const to = left.current + (room.value || 1200) + sight
  return (
    <div class="track" ref={box} onScroll={scroll}>
      <div class="room" style={{ width: `${width}px` }} />
      <svg width={room.value} height={height} viewBox={`${left.current} 0 ${room.value} ${height}`} role="group"
        aria-label={text.timeline.summary(shown.lanes.length, shown.last, String(shown.head))}
        onKeyDown={event => move(event, shown)} onPointerLeave={event => { if (event.pointerType !== 'touch') hovered.value = 0 }}>
        <Grid plan={plan} height={height} from={from} to={to} />
        {shown.lanes.map((lane, row) => <Horizon key={lane.id} lane={lane} row={row} plan={plan} from={from} to={to} />)}
        <Compacted shown={shown} plan={plan} height={height} />
        <Causes shown={shown} plan={plan} />
        <Tokens tokens={tokens} shown={shown} plan={plan} />
        <line class="view" x1={x} x2={x} y1={axisHeight - 6} y2={height} />
        <Marks shown={shown} plan={plan} from={from} to={to} show={show} />
        <CompactHandle shown={shown} plan={plan} height={height} />
      </svg>
    </div>
  )
}

// scrolled returns the scroll position at which x is visible.
function scrolled(left: number, room: number, x: number): number {
  if (x > left + room - 70) return Math.max(0, x - (room * 2) / 3)
  return x < left + 30 ? Math.max(0, x - room / 3) : left
}

function Grid({ plan, height, from, to }: { plan: Layout; height: number; from: number; to: number }) {
  const start = plan.columns[0]?.key ?? 0
  return (
    <g class="grid" aria-hidden="true">
      {labelled(plan, from, to).map(({ key, x, label }) => (
        <g key={x}>
          <line x1={x} x2={x} y1={axisHeight - 6} y2={height} />
          {label && <text x={x} y={14}>{plan.axis === 'revision' ? String(key) : elapsed(key - start)}</text>}
        </g>
      ))}
    </g>
  )
}

// labelled returns the columns in sight. Whether a column has room for a label depends on all columns before it.
function labelled({ columns }: Layout, from: number, to: number): { key: number; x: number; label: boolean }[] {
  const out = []
  let before = -Infinity
  let last = Number.NaN
  for (const { key, x } of columns) {
    if (x > to) break
    const label = key !== last && x - before >= 44
    last = key
    if (label) before = x
    if (x >= from) out.push({ key, x, label })
  }
  return out
}

// connected returns the frames to connect with lines: the mark under the pointer or the selected one, with its cause and its effects.
// Without such a mark it returns all effects of the user's newest line, or in the past the chain of the frame in view. If these are too
// many to be followed by eye, it returns only the nearest ones.
function connected(shown: Picture): Set<number> {
  let mark = hovered.value || (selected.value <= shown.last && selected.value)
  if (!mark) {
    mark = live.value ? Math.min(own.value, shown.last) : shown.last
    const all = chain(frames.value, mark)
    if (all.size <= 16) return all
  }
  const effects = frames.value.filter(frame => frame.cause === mark).map(frame => frame.n)
  return new Set([frames.value[mark - 1]?.cause ?? 0, mark, ...effects])
}

function Causes({ shown, plan }: { shown: Picture; plan: Layout }) {
  const rows = new Map(shown.lanes.map((lane, row) => [lane.id, row]))
  const set = connected(shown)
  const spot = (frame: Frame) => [plan.x(frame.n), rowY(rows.get(frame.lane) ?? 0)] as const
  return (
    <g class="causes" aria-hidden="true">
      {[...set].map(n => {
        const frame = frames.value[n - 1]
        const cause = frame?.cause ? frames.value[frame.cause - 1] : undefined
        if (!frame || !cause || !set.has(cause.n) || frame.n > shown.last) return null
        if (!rows.has(cause.lane) || !rows.has(frame.lane)) return null // its lane is hidden
        const [x1, y1] = spot(cause)
        const [x2, y2] = spot(frame)
        const middle = (y1 + y2) / 2
        return <path key={n} pathLength={1} d={`M${x1} ${y1} C${x1} ${middle} ${x2} ${middle} ${x2} ${y2}`} />
      })}
    </g>
  )
}

// stops has the mark of each lane that Tab focuses: the mark that had the focus last.
const stops = signal<Record<string, number>>({})

function Marks({ shown, plan, from, to, show }: { shown: Picture; plan: Layout; from: number; to: number; show(x: number): void }) {
  const lit = hovered.value ? chain(frames.value, hovered.value) : null
  const near = new Map<string, Frame[]>()
  for (const frame of plan.inSight(from, to)) {
    const marks = near.get(frame.lane)
    if (frame.n > shown.last) continue
    if (marks) marks.push(frame)
    else near.set(frame.lane, [frame])
  }
  return (
    <g class={lit ? 'marks lit' : 'marks'}>
      {shown.lanes.map((lane, row) => {
        const stop = stopOf(lane, stops.value[lane.id], selected.value)
        const inSight = near.get(lane.id) ?? []
        const stopped = frames.value[stop - 1]
        if (stopped && !inSight.includes(stopped)) inSight.push(stopped)
        return (
          <g key={lane.id} role="group" aria-label={laneName(lane.id)}>
            {inSight.map(frame => <Mark key={frame.n} frame={frame} x={plan.x(frame.n)} y={rowY(row)} show={show} stop={frame.n === stop} lit={lit?.has(frame.n) ?? false}
              gone={Number(frame.rv) <= shown.compacted && lane.kind !== 'client' && !/\b410\b/.test(frame.text)} />)}
            {lane.kind === 'store' && inSight.map(frame => plan.space(frame.n) >= least && (
              <text key={frame.n} class={lost.value.has(frame.n) ? 'named bad' : 'named'} aria-hidden="true" x={plan.x(frame.n)} y={rowY(row) + 18}>
                {lost.value.has(frame.n) ? text.changed.mark : shortened(objectOf(frame), plan.space(frame.n))}
              </text>
            ))}
          </g>
        )
      })}
    </g>
  )
}

const least = 48 // px of a column in which an object's name fits
const letterWidth = 6.2 // px

// shortened returns a name as it fits into a column of a width.
function shortened(name: string, width: number): string {
  const longest = Math.floor(Math.min(width, 72) / letterWidth)
  return name.length > longest ? `${name.slice(0, longest - 1)}…` : name
}

function Mark({ frame, x, y, show, stop, lit, gone }: {
  frame: Frame; x: number; y: number; show(x: number): void; stop: boolean; lit: boolean; gone: boolean
}) {
  const names = ['mark', hueOf(frame), lit && 'on', frame.n === selected.value && 'chosen', gone && 'gone', lost.value.has(frame.n) && 'lost']
  const focus = () => {
    hovered.value = frame.n
    show(x)
    stops.value = { ...stops.value, [frame.lane]: frame.n }
  }
  // tabindex is in lower case because SVG attributes are case-sensitive.
  return (
    <g id={`f${frame.n}`} class={names.filter(Boolean).join(' ')} role="button" tabindex={stop ? 0 : -1} aria-label={describe(frame)}
      data-kind={frame.kind} transform={`translate(${x} ${y})`} onPointerEnter={() => { hovered.value = frame.n }} onFocus={focus}
      onBlur={() => { hovered.value = 0 }} onClick={() => { selected.value = frame.n }}>
      <circle class="hit" r="12" />
      <Shape frame={frame} />
    </g>
  )
}

const leads = ['ArrowRight', 'ArrowLeft', 'ArrowUp', 'ArrowDown', 'Home', 'End', 'Enter', ' ']

function move(event: KeyboardEvent, shown: Picture): void {
  const n = Number((event.target as Element).id?.slice(1))
  if (!n || !leads.includes(event.key)) return
  event.preventDefault()
  event.stopPropagation()
  if (event.key === 'Enter' || event.key === ' ') {
    selected.value = n
    return
  }
  const next = nextMark(shown.lanes, n, event.key)
  if (!next) return
  const lane = frames.value[next - 1]?.lane ?? ''
  stops.value = { ...stops.value, [lane]: next }
  if (selected.value) selected.value = next
  requestAnimationFrame(() => document.getElementById(`f${next}`)?.focus())
}
