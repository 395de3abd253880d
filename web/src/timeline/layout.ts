// layout computes the x coordinate of every frame. The axis has one column for each revision. A column is as wide as its busiest lane
// needs, so the marks of a lane never overlap. The time axis has a column for each revision at each moment, in the order of time, so that
// causes are left of their effects.
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
  width: number
  /** x returns the coordinate of frame n, or 0 if it does not exist. */
  x(n: number): number
  /** space returns the width of frame n's column. */
  space(n: number): number
  /** at returns the x of a revision (or time), also between and beyond columns. */
  at(key: number): number
  /** inSight returns the frames of the columns between two x, in the order of the columns. */
  inSight(from: number, to: number): Frame[]
}

export const rowHeight = 40 // px of a lane
export const axisHeight = 28 // px above the first lane

/** rowY returns the y of a lane's middle. */
export function rowY(row: number): number {
  return axisHeight + row * rowHeight + rowHeight / 2
}

const slot = 22 // px between two marks of one lane in one column
const gap = 30 // least px between the last mark of a column and the next column
const widest = 76 // most px between them
const margin = 26 // px before the first column

interface Slots {
  key: number
  rv: number
  lanes: Map<string, number>
  frames: Frame[]
  most: number
  column: Column
}

/** Planner computes layouts incrementally: when newer frames arrive, it places only these. */
export class Planner {
  private axis: Axis = 'revision'
  private frames: readonly Frame[] = []
  private readonly byId = new Map<string, Slots>()
  private ordered: Slots[] = []
  private columns: Column[] = [] // the columns of ordered
  private places: { slots: Slots; slot: number }[] = []
  private between = 0
  private changed = 0 // index of the first column whose position may have changed

  /** plan places frames on an axis. room is the width in px to which short histories are stretched. */
  plan(frames: readonly Frame[], axis: Axis, room = 0): Layout {
    const done = this.places.length
    if (axis !== this.axis || frames.length < done || frames[0] !== this.frames[0] || frames[done - 1] !== this.frames[done - 1]) this.forget()
    this.axis = axis
    for (let i = this.places.length; i < frames.length; i++) this.put(frames[i] as Frame)
    this.frames = frames
    this.spread(room)
    const { places, ordered, columns } = this
    const end = columns.at(-1)
    const x = (n: number) => {
      const place = places[n - 1]
      return place ? place.slots.column.x + place.slot * slot : 0
    }
    const space = (n: number) => places[n - 1]?.slots.column.width ?? 0
    const inSight = (from: number, to: number) => {
      const frames: Frame[] = []
      for (let i = Math.max(0, after(columns, column => column.x <= from) - 1); i < ordered.length && (columns[i]?.x ?? 0) <= to; i++) {
        frames.push(...(ordered[i] as Slots).frames)
      }
      return frames
    }
    return { axis, columns, x, space, width: end ? end.x + end.width : margin * 2, at: key => find(columns, key), inSight }
  }

  // spread sets the x and width of each column from the first changed one on.
  private spread(room: number): void {
    const { ordered, axis } = this
    const needed = (i: number) => {
      const { most, key } = ordered[i] as Slots
      return (most - 1) * slot + (axis === 'time' ? lapse(key, ordered[i + 1]?.key) : 0)
    }
    let between = gap
    if (ordered.length * gap < room) { // otherwise there is no space to distribute
      const taken = ordered.reduce((sum, _, i) => sum + needed(i), margin * 2)
      between = Math.max(gap, Math.min(widest, (room - taken) / ordered.length))
    }
    let i = between === this.between ? Math.max(0, this.changed - 1) : 0
    let x = ordered[i - 1] ? (ordered[i - 1] as Slots).column.x + (ordered[i - 1] as Slots).column.width : margin
    for (; i < ordered.length; i++) {
      const slots = ordered[i] as Slots
      slots.column = { key: slots.key, x, width: needed(i) + between }
      this.columns[i] = slots.column
      x += slots.column.width
    }
    this.between = between
    this.changed = ordered.length
  }

  private forget(): void {
    this.byId.clear()
    this.ordered = []
    this.columns = []
    this.places = []
    this.changed = 0
  }

  private put(frame: Frame): void {
    const rv = revision(frame)
    const key = this.axis === 'revision' ? rv : frame.vt
    const id = `${key}/${rv}`
    let slots = this.byId.get(id)
    if (!slots) {
      slots = { key, rv, lanes: new Map(), frames: [], most: 1, column: { key, x: 0, width: 0 } }
      this.byId.set(id, slots)
      this.insert(slots)
    }
    const taken = slots.lanes.get(frame.lane) ?? 0
    slots.lanes.set(frame.lane, taken + 1)
    slots.frames.push(frame)
    if (taken + 1 > slots.most) {
      slots.most = taken + 1
      this.changed = Math.min(this.changed, this.ordered.lastIndexOf(slots))
    }
    this.places.push({ slots, slot: taken })
  }

  // insert keeps the columns in order. Nearly always the new one is the last.
  private insert(slots: Slots): void {
    let at = this.ordered.length
    while (at > 0 && before(slots, this.ordered[at - 1] as Slots)) at--
    this.ordered.splice(at, 0, slots)
    this.changed = Math.min(this.changed, at)
  }
}

const before = (a: Slots, b: Slots) => a.key < b.key || (a.key === b.key && a.rv < b.rv)

/** layout computes a layout once. */
export function layout(frames: readonly Frame[], axis: Axis, room = 0): Layout {
  return new Planner().plan(frames, axis, room)
}

// lapse returns the px by which a column is widened for the time until the next one: 14 px for each power of ten of milliseconds.
function lapse(from: number, to: number | undefined): number {
  return to === undefined ? 0 : 14 * Math.log10(1 + to - from)
}

// after returns how many columns satisfy holds, which must be true for a prefix of the columns only.
function after(columns: readonly Column[], holds: (column: Column) => boolean): number {
  let low = 0
  let high = columns.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (holds(columns[middle] as Column)) low = middle + 1
    else high = middle
  }
  return low
}

function find(columns: readonly Column[], key: number): number {
  const column = columns[after(columns, one => one.key <= key) - 1]
  if (!column) return 0
  return column.key === key ? column.x : column.x + column.width / 2
}
