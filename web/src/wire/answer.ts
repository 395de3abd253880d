// Answers the browser's own requests to the API server of this page, such as fetch('/api/v1/namespaces') in an article or the developer
// tools. The service worker (public/sw.js) forwards a request, and receives the answer, or the events of a watch one by one, through a
// port.
import { effect } from '@preact/signals'
import type { Exchange } from '../engine/protocol'
import { quote } from '../console/RawRequest'
import { text } from '../text'
import { attached, frames, query, ready, run } from '../state/session'

/** Asked is a request from the service worker. */
export interface Asked {
  method: string
  path: string // including the query
  headers: [string, string][]
  body: string
}

const client = 'fetch' // the name of the client in the world
const bodyName = 'fetch-body'

// own matches the headers that matter to an API server. Browsers add others.
const own = /^(accept|content-type|if-none-match|impersonate-.*|x-.*)$/i

/** lineOf returns the line of the scenario language for a request. */
export function lineOf({ method, path, headers, body }: Asked): string {
  const flags = headers.filter(([name, value]) => own.test(name) && value !== '*/*').map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`)
  return ['request', method, quote(path), `--as ${client}`, ...flags, ...(body ? [`-f ${bodyName}`] : [])].join(' ')
}

/** answer runs a request and posts the answer to the port: {pass} if there is no engine, otherwise {status, headers, body} or {error}.
 * For a watch, {chunk} for each event and finally {end} follow. */
export async function answer(asked: Asked, port: MessagePort): Promise<void> {
  if (!ready.value || attached.value) {
    port.postMessage({ pass: true })
    return
  }
  const result = await run(lineOf(asked), asked.body ? { [bodyName]: asked.body } : undefined)
  const res = result?.http?.res
  if (!result?.http || !res) {
    port.postMessage({ error: result?.text ?? text.engine.silent })
    return
  }
  const body = res.encoding === 'base64' ? Uint8Array.from(atob(res.body), c => c.charCodeAt(0)) : res.body
  port.postMessage({ status: res.code, headers: res.headers, body, stream: Boolean(result.watch) })
  if (result.watch) follow(result.watch, result.http.n ?? 0, port)
}

// follow posts the events of a watch when they occur, until the watch ends or the reader cancels it.
function follow(watch: string, request: number, port: MessagePort): void {
  const lane = `watch/${watch}`
  let seen = 0
  let sending = Promise.resolve()
  const stop = effect(() => {
    const fresh = frames.value.filter(frame => frame.n > seen && frame.lane === lane)
    seen = frames.value.length
    if (fresh.length === 0) return
    const numbers = new Set(fresh.map(frame => frame.n))
    const ended = fresh.some(frame => frame.kind === 'watch.close')
    sending = sending.then(async () => {
      const { events = [] } = await query<Exchange>('exchange', { frame: request })
      for (const event of events) if (numbers.has(event.frame)) port.postMessage({ chunk: `${event.body.trimEnd()}\n` })
      if (ended) port.postMessage({ end: true })
    }).catch(() => port.postMessage({ end: true }))
    if (ended) queueMicrotask(() => stop())
  })
  port.onmessage = () => { // the reader has cancelled the watch
    stop()
    void run(`stop ${watch}`)
  }
}
