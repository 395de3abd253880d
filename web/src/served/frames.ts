// Frames of a served cluster, made of the records of its trace (GET /sim/v1/trace): what happened there, in the marks and lanes in
// which the page shows a world of its own.
import type { Frame } from '../engine/protocol'

/** Entry is one line of the trace; see the package sim/trace. */
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

/** Tracer turns records into frames, in their order. It knows the controllers by their names. */
export class Tracer {
  private readonly numbers = new Map<number, number>() // of a record: of its frame
  private readonly callers = new Map<number, Entry>() // requests by their record
  private last = 0
  private newest = 0

  constructor(private readonly controllers: ReadonlySet<string> = new Set()) {}

  /** take returns the frames of some records; there is none for a decision of an API server, and two for a write of a controller, which
   * asks no server for it: what it did, on its own lane, and the commit. */
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

  // A record without a frame hands on its own cause.
  private causeOf(entry: Entry): number {
    if (entry.site === 'request.decided' && entry.cause) this.numbers.set(entry.n, this.numbers.get(entry.cause) ?? 0)
    return this.numbers.get(entry.cause ?? 0) ?? 0
  }
}

const laneOf = (entry: Entry) => `client/${agent(entry)}`

// agent is a User-Agent up to its version.
function agent({ client }: Entry): string {
  return (client ?? '').split('/', 1)[0]?.split(' ', 1)[0] || 'somebody'
}
