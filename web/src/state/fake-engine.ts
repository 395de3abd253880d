// A fake of the Worker and its Go program for unit tests. Like the engine it has a log, and answers requests in order.
import { vi } from 'vitest'
import type { Op } from '../engine/protocol'

export interface Sent {
  kind: string
  body: Record<string, unknown>
}

/** sent are the requests so far. */
export const sent: Sent[] = []

/** refuse is called before each request. If it returns an error, the request fails with it. */
export const refuse = vi.fn<(sent: Sent) => Error | undefined>(() => undefined)

/** extra is merged into answers, by their kind, and into the data of queries, by their view. */
export const extra: Record<string, object> = {}

let log: Op[] = []
let n = 0

const head = () => ({ branch: '0', n, total: log.length, vt: 0, rv: String(4004 + n), frames: 0 })

function answer({ kind, body }: Sent): object {
  switch (kind) {
    case 'boot':
      log = [...((body['log'] as Op[]) ?? [])]
      n = (body['cursor'] as number | undefined) ?? log.length
      return { head: head(), version: 'v0', ...extra['boot'] }
    case 'do':
      log = [...log.slice(0, n), body['op'] as Op]
      n++
      return { head: head(), result: { lines: [`answer ${n}`], ok: true }, ...extra['do'] }
    case 'seek':
      n = body['n'] as number
      return { head: head(), ...extra['seek'] }
    case 'undo':
    case 'redo':
      n += kind === 'undo' ? -1 : 1
      return { head: head(), ...extra[kind] }
    case 'query':
      return { data: { log, seed: '1', from: 0, results: log.map((_, i) => ({ lines: [`answer ${i + 1}`], ok: true })),
        resources: [], namespaces: [], commands: [], ...extra[body['view'] as string] } }
    default:
      return { head: head(), ...extra[kind] }
  }
}

export class Refused extends Error {
  constructor(text: string, readonly needs?: string) {
    super(text)
  }
}

export class Engine {
  onFrames: (message: unknown) => void = () => {}
  onExit: (text: string) => void = () => {}

  constructor(readonly name: string) {
    engines.push(this)
  }

  async ask(kind: string, body: Record<string, unknown> = {}): Promise<object> {
    const one = { kind, body: JSON.parse(JSON.stringify(body)) as Record<string, unknown> }
    sent.push(one)
    await Promise.resolve()
    const no = refuse(one)
    if (no) throw no
    return answer(one)
  }

  stop(): void {
    stopped.push(this)
  }
}

/** engines are all Workers that were started, stopped are the stopped ones. */
export const engines: Engine[] = []
export const stopped: Engine[] = []
