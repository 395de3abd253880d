// Frames of a served cluster, built from the records of its trace (GET /sim/v1/trace). The page shows them with the same marks and lanes as
// the frames of a world of its own.
import type { Frame } from '../engine/protocol'

/** Entry is one record of the trace (package sim/trace). */
export interface Entry {
  n: number
  t: string
  site: string
  cause?: number
  replica?: number
  client?: string
  verb?: string
  what?: string
  key?: string
  rv?: number
  code?: number
  text?: string
}

/** Tracer turns records into frames, in order. It needs the names of the controllers. */
export class Tracer {
  private readonly numbers = new Map<number, number>() // frame numbers by record number
  private readonly callers = new Map<number, Entry>() // requests by record number
  private last = 0
  private newest = 0

  constructor(private readonly controllers: ReadonlySet<string> = new Set()) {}

  /** take returns the frames of records. A decision of an API server has no frame. A write of a controller has two, because a controller
   * sends no request: a reconcile on the controller's lane, and the commit. */
  take(entries: readonly Entry[]): Frame[] {
    return entries.flatMap(entry => {
      const frame = this.frame(entry)
      if (!frame) return []
      const made: Frame[] = []
      if (frame.kind === 'store.commit' && !frame.cause && this.controllers.has(entry.client ?? '')) {
        frame.cause = ++this.last
        made.push({ ...frame, n: this.last, cause: 0, lane: `controller/${entry.client}`, kind: 'reconcile', text: `${entry.verb} ${frame.ref}` })
      }
      frame.n = ++this.last
      this.numbers.set(entry.n, frame.n)
      return [...made, frame]
    })
  }

  private frame(entry: Entry): Frame | null {
    const ref = [entry.what, entry.key].filter(Boolean).join(' ')
    const base: Frame = { n: 0, vt: Date.parse(entry.t), rv: String(entry.rv || this.newest), lane: 'store', kind: 'fault', text: entry.text ?? '', ref }
    const cause = this.causeOf(entry)
    if (cause) base.cause = cause
    if (entry.verb) base.verb = entry.verb
    switch (entry.site) {
      case 'request.arrived':
        this.callers.set(entry.n, entry)
        return { ...base, rv: String(this.newest), lane: laneOf(entry), kind: 'http.req', text: `${entry.verb} ${ref}` }
      case 'request.answered': {
        const asked = this.callers.get(entry.cause ?? 0)
        return { ...base, lane: laneOf(asked ?? entry), kind: 'http.res', code: entry.code ?? 0, text: `${entry.code} ${entry.text ?? ''}`.trim() }
      }
      case 'store.committed':
        this.newest = Math.max(this.newest, entry.rv ?? 0)
        return { ...base, kind: 'store.commit', text: `${entry.verb} ${ref}, revision ${entry.rv}${cause || !entry.client ? '' : ` (${entry.client})`}` }
      case 'replica.applied':
        return { ...base, lane: `replica/${entry.replica}`, kind: 'cache.apply', text: `replica ${entry.replica} knows revision ${entry.rv}` }
      case 'watch.sent':
        return { ...base, lane: `watch/${[agent(entry), entry.what].join(' ')}`, kind: entry.verb === 'BOOKMARK' ? 'watch.bookmark' : 'watch.event', text: `${entry.verb} ${ref}` }
      case 'fault':
        return entry.replica ? { ...base, lane: `replica/${entry.replica}` } : base
      case 'clock':
        return { ...base, kind: 'clock.tick' }
      default:
        return null
    }
  }

  // causeOf returns the frame number of an entry's cause. A record without a frame passes on its own cause.
  private causeOf(entry: Entry): number {
    if (entry.site === 'request.decided' && entry.cause) this.numbers.set(entry.n, this.numbers.get(entry.cause) ?? 0)
    return this.numbers.get(entry.cause ?? 0) ?? 0
  }
}

const laneOf = (entry: Entry) => `client/${agent(entry)}`

// agent returns the User-Agent without its version.
function agent({ client }: Entry): string {
  return (client ?? '').split('/', 1)[0]?.split(' ', 1)[0] || 'somebody'
}
