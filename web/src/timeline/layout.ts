// layout gives every frame a place on the x axis. The axis is made of columns, one for each revision; a column is as wide
// as its busiest lane needs, so marks of one lane never cover each other. On the axis of time there is a column for each
// revision at each moment, in the order of moments, so that causes still stand before their effects.
//
//	       rv 41      rv 42           rv 43
//	store  ■          ■               ■
//	client ▸          ▸  ✕  ▸         ▸
//	       |<-width->|<----width---->|<-width->|
import type { Frame } from '../engine/protocol'
import { revision } from './fold'

export type Axis = 'revision' | 'time'

export interface Column {
  key: number
  x: number
  width: number
}

export interface Layout {
  axis: Axis
  columns: Column[]
  x: Map<number, number>
  width: number
  /** at is the x of a revision (or time), also of one between or beyond the columns. */
  at(key: number): number
}

const slot = 22 // px between two marks of one lane in one column
const gap = 30 // px at least between the last mark of a column and the next column
const widest = 76 // px at most, where there is room
const margin = 26 // px before the first column

interface Slots {
  key: number
  rv: number
  lanes: Map<string, number>
  most: number
}

/** layout places frames on an axis; room is the width in px that short histories are stretched to. */
export function layout(frames: readonly Frame[], axis: Axis, room = 0): Layout {
  const byId = new Map<string, Slots>()
  const places: { n: number; slots: Slots; slot: number }[] = []
  for (const frame of frames) {
    const rv = revision(frame)
    const key = axis === 'revision' ? rv : frame.vt
    const id = `${key}/${rv}`
    let slots = byId.get(id)
    if (!slots) byId.set(id, (slots = { key, rv, lanes: new Map(), most: 1 }))
    const taken = slots.lanes.get(frame.lane) ?? 0
    slots.lanes.set(frame.lane, taken + 1)
    slots.most = Math.max(slots.most, taken + 1)
    places.push({ n: frame.n, slots, slot: taken })
  }
  const ordered = [...byId.values()].sort((a, b) => a.key - b.key || a.rv - b.rv)
  const columns = place(ordered, axis, room)
  const start = new Map(ordered.map((slots, i) => [slots, columns[i]?.x ?? 0]))
  const x = new Map(places.map(p => [p.n, (start.get(p.slots) ?? 0) + p.slot * slot]))
  const end = columns.at(-1)
  return { axis, columns, x, width: end ? end.x + end.width : margin * 2, at: key => find(columns, key) }
}

function place(slots: Slots[], axis: Axis, room: number): Column[] {
  const needed = slots.map(({ key, most }, i) => (most - 1) * slot + (axis === 'time' ? lapse(key, slots[i + 1]?.key) : 0))
  const taken = needed.reduce((sum, width) => sum + width, margin * 2)
  const between = Math.max(gap, Math.min(widest, (room - taken) / slots.length))
  let x = margin
  return slots.map(({ key }, i) => {
    const width = (needed[i] ?? 0) + between
    const column = { key, x, width }
    x += width
    return column
  })
}

// lapse widens a column by the time that passes after it: 14 px for each power of ten of milliseconds.
function lapse(from: number, to: number | undefined): number {
  return to === undefined ? 0 : 14 * Math.log10(1 + to - from)
}

function find(columns: readonly Column[], key: number): number {
  let low = 0
  let high = columns.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((columns[middle]?.key ?? 0) <= key) low = middle + 1
    else high = middle
  }
  const column = columns[low - 1]
  if (!column) return 0
  return column.key === key ? column.x : column.x + column.width / 2
}
