// fold computes the timeline's picture from frames. It is a pure function, so scrubbing folds fewer frames.
//
//	lane       marks            horizon: the highest revision the lane knows
//	store      ■──■──■          the newest commit
//	replica/1  │  ○──○          the newest commit applied to its cache
//	watch/w    ╞══●  b          the newest event or bookmark
//	client/x   ▸     ✕          the newest revision in its answers
//	controller/c  ↻             the revision that it knew at its last reconcile
import type { Frame } from '../engine/protocol'

export type LaneKind = 'store' | 'replica' | 'watch' | 'client' | 'controller'

export interface Lane {
  id: string
  kind: LaneKind
  label: string
  marks: Frame[]
  from: number
  horizon: number
  /** reached is the n of the frame that last moved the horizon. */
  reached: number
  closed: boolean
  /** expired is true for a watch whose horizon has been compacted: it cannot resume. */
  expired: boolean
}

export interface Picture {
  lanes: Lane[]
  /** quiet are the hidden lanes (foldAway). */
  quiet?: Lane[]
  compacted: number
  compactedAt: number
  head: number
  now: number
  last: number
}

const order: Record<LaneKind, number> = { store: 0, replica: 1, watch: 2, client: 3, controller: 4 }

export function laneKind(id: string): LaneKind {
  const kind = id.split('/', 1)[0]
  return kind === 'replica' || kind === 'watch' || kind === 'client' || kind === 'controller' ? kind : 'store'
}

function newLane(id: string, frame: { n: number; rv: string }): Lane {
  const slash = id.indexOf('/')
  const label = slash < 0 ? id : id.slice(slash + 1)
  const at = revision(frame)
  return {
    id, kind: laneKind(id), label, marks: [], from: at, horizon: 0, reached: frame.n, closed: false, expired: false,
  }
}

/** revision returns a frame's revision as a number, for comparisons and coordinates only. */
export function revision(frame: { rv: string }): number {
  return Number(frame.rv) || 0
}

const moves: Record<string, true> = {
  'store.commit': true, 'cache.apply': true, 'watch.event': true, 'watch.bookmark': true, 'http.res': true, reconcile: true,
}

/** Known is a lane that exists even if it has no frames, with the revision that it knows. */
export interface Known {
  id: string
  horizon: string
}

interface Folded {
  frames: readonly Frame[]
  upTo: number
  first: Frame | undefined
  last: Frame | undefined
  lanes: Map<string, Lane>
  picture: Omit<Picture, 'lanes'>
}

/** Folder folds frames incrementally: if only newer frames have come into view, it continues from the last fold, so the cost depends on
 * the number of new frames and not on all of them. */
export class Folder {
  private folded: Folded | null = null

  /** fold reads the frames up to and including number upTo. Known lanes are part of the picture even without frames. Their horizons apply
   * once all frames are folded. */
  fold(frames: readonly Frame[], upTo: number, known: readonly Known[] = []): Picture {
    const folded = this.continued(frames, upTo) ?? this.restarted(frames)
    for (let i = folded.upTo; i < frames.length && (frames[i]?.n ?? Infinity) <= upTo; i++) {
      add(folded, frames[i] as Frame)
      folded.upTo = i + 1
    }
    folded.frames = frames
    folded.last = frames[folded.upTo - 1]
    return paint(folded, upTo >= frames.length, known)
  }

  // continued returns the last fold if it can be continued. Frames never change, so the folded frames are a prefix of these if the first and
  // the last folded frame are the same.
  private continued(frames: readonly Frame[], upTo: number): Folded | null {
    const { folded } = this
    if (!folded || folded.upTo > upTo || folded.upTo > frames.length) return null
    return frames === folded.frames || (frames[0] === folded.first && frames[folded.upTo - 1] === folded.last) ? folded : null
  }

  private restarted(frames: readonly Frame[]): Folded {
    const picture = { compacted: 0, compactedAt: 0, head: 0, now: 0, last: 0 }
    this.folded = { frames, upTo: 0, first: frames[0], last: undefined, lanes: new Map(), picture }
    return this.folded
  }
}

function add({ lanes, picture }: Folded, frame: Frame): void {
  picture.now = frame.vt
  picture.last = frame.n
  const at = revision(frame)
  if ((frame.code ?? 0) < 400) picture.head = Math.max(picture.head, at) // a refusal may name a revision that the store has not reached
  if (frame.kind === 'store.compact' && at > picture.compacted) {
    picture.compacted = at
    picture.compactedAt = frame.n
  }
  const lane = lanes.get(frame.lane) ?? newLane(frame.lane, frame)
  lanes.set(frame.lane, lane)
  lane.marks.push(frame)
  if (lane.kind === 'watch') lane.closed = frame.kind === 'watch.close'
  reopen(lanes, frame)
  if (moves[frame.kind] && at >= lane.horizon && (frame.code ?? 0) < 400) {
    lane.horizon = at
    lane.reached = frame.n
  }
}

// A client that reconnects continues the lane of its watch: the answer to its request names the watch.
const opens = /, watch (\S+)$/

function reopen(lanes: Map<string, Lane>, frame: Frame): void {
  if (frame.kind !== 'http.res' || frame.code !== 200) return
  const lane = lanes.get(`watch/${opens.exec(frame.text)?.[1]}`)
  if (lane) lane.closed = false
}

// paint returns the picture of folded frames with the known lanes. It does not change folded.
function paint(folded: Folded, newest: boolean, known: readonly Known[]): Picture {
  const lanes = new Map([...folded.lanes].map(([id, lane]) => [id, { ...lane }]))
  const picture: Picture = { ...folded.picture, lanes: [] }
  for (const { id, horizon } of known) {
    const lane = lanes.get(id) ?? newLane(id, { n: 0, rv: horizon })
    if (lane.marks.length === 0 || newest) lane.horizon = Math.max(lane.horizon, Number(horizon) || 0)
    lanes.set(id, lane)
    if (id === 'store') picture.head = Math.max(picture.head, lane.horizon)
  }
  for (const lane of lanes.values()) lane.expired = lane.kind === 'watch' && lane.horizon < picture.compacted
  picture.lanes = [...lanes.values()].sort((a, b) => order[a.kind] - order[b.kind] || compareNames(a.id, b.id))
  return picture
}

/** fold folds frames once. */
export function fold(frames: readonly Frame[], upTo: number, known: readonly Known[] = []): Picture {
  return new Folder().fold(frames, upTo, known)
}

// compareNames sorts lanes by name. The learner's own client comes first, so that it is visible.
function compareNames(a: string, b: string): number {
  const own = Number(b === 'client/you') - Number(a === 'client/you')
  return own || a.localeCompare(b, 'en', { numeric: true })
}

/** chain returns the numbers of a frame, all its causes and all its effects. */
export function chain(frames: readonly Frame[], n: number): Set<number> {
  const linked = new Set<number>()
  for (let at = n; at > 0 && !linked.has(at);) {
    linked.add(at)
    at = frames[at - 1]?.cause ?? 0
  }
  // A cause is always older than its effect, so one pass forward finds every descendant of n.
  const effects = new Set([n])
  for (let i = n; i < frames.length; i++) {
    const frame = frames[i]
    if (frame?.cause && effects.has(frame.cause)) effects.add(frame.n)
  }
  return new Set([...linked, ...effects])
}

/** interesting reports whether playback should stop at a frame: a refusal, a conflict, a compaction, a closed watch, a fault, or a check. */
export function interesting(frame: Frame): boolean {
  return (frame.code ?? 0) >= 400 || frame.kind === 'store.compact' || frame.kind === 'watch.close'
    || frame.kind === 'fault' || frame.kind.startsWith('check.')
}
