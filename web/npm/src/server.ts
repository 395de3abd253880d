// The API server, and the methods with which a test controls it.
import { Engine, type Message, Refused } from './engine.js'
import type { Listener } from './listen.js'
import { clusterOf, type Duration, milliseconds, type Options } from './options.js'

/** Call is a request to the API server, unparsed. */
export interface Call {
  method: string
  target: string // path and query
  headers: [string, string][]
  body?: Uint8Array
}

/** Receiver receives the response to a Call: head once, data any number of times, end once. */
export interface Receiver {
  head(code: number, headers: [string, string][]): void
  data(bytes: Uint8Array): void
  /** end is called when the response is complete. broken means that the connection was lost. */
  end(broken: boolean): void
}

/** Clock is the time of a cluster. Timeouts, leases, controllers and kubelets follow it. */
export interface Clock {
  /** now returns the cluster's time. */
  now(): Date
  /** advance moves the clock, for example by "5m". Everything that becomes due happens, in order, before advance returns. */
  advance(duration: Duration): void
}

/** Faults are planned failures: https://pkg.go.dev/github.com/kubesim/kubesim/sim/fault describes the language. */
export interface Faults {
  /** add adds faults, one per line: "on update pods times=1 do fail Conflict". */
  add(faults: string): void
  /** list returns the current faults, each with the number of times that it has fired. */
  list(): string[]
  /** clear removes all faults and releases the events that they hold. */
  clear(): void
  /** release delivers the watch events that a hold keeps back. */
  release(): void
}

/** ListenOptions are the address on which a server listens. */
export interface ListenOptions {
  /** port is by default 0, which selects a free port. */
  port?: number
  /** host is by default 127.0.0.1. Every client that can reach the address has full access to the cluster. */
  host?: string
}

interface Time { now: number; next?: number }

const encoder = new TextEncoder()

/** bytesOf returns the bytes of a body that the engine sends. */
function bytesOf(body: string, encoding: unknown): Uint8Array {
  return encoding === 'base64' ? Uint8Array.from(atob(body), c => c.charCodeAt(0)) : encoder.encode(body)
}

// textOf returns a body in the form that the engine reads: as text if it is valid UTF-8, otherwise in base64.
function textOf(body: Uint8Array): { body: string; encoding?: 'base64' } {
  try {
    return { body: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body) }
  } catch {
    let binary = ''
    for (let i = 0; i < body.length; i += 0x8000) binary += String.fromCharCode(...body.subarray(i, i + 0x8000))
    return { body: btoa(binary), encoding: 'base64' }
  }
}

/** start starts a cluster and returns its API server. For an invalid option it throws a TypeError that lists the valid ones. */
export async function start(options: Options = {}): Promise<Server> {
  const cluster = clusterOf(options)
  const engine = await Engine.load('cel')
  for (;;) {
    try {
      return new Server(engine, cluster, options)
    } catch (error) {
      if (!(error instanceof Refused && error.needs?.startsWith('schema/'))) throw error
      await engine.loadSchema(error.needs)
    }
  }
}

/** Server is an API server in this process, or several with one store. start creates it. */
export class Server {
  /** version is the Kubernetes release of the server. */
  readonly version: string
  /** clock is the time of the cluster. */
  readonly clock: Clock
  /** faults are planned failures of requests and watches. */
  readonly faults: Faults

  private readonly receivers = new Map<number, Receiver>()
  private readonly real: boolean
  private readonly token: string | undefined
  private listener: Listener | undefined
  private time: Time
  private wake: ReturnType<typeof setTimeout> | undefined
  private closed = false

  /** Call start instead: the constructor needs a loaded engine. */
  constructor(private readonly engine: Engine, cluster: object, options: Options) {
    this.real = options.clock === 'real'
    this.token = options.auth === 'rbac' ? 'admintoken' : undefined
    const { version, time } = engine.ask<{ version: string; time: Time }>('serve', { cluster, now: this.real ? Date.now() : undefined })
    this.version = version
    this.time = time
    engine.onMessage = message => this.receive(message)
    this.clock = {
      now: () => { this.follow(); return new Date(this.time.now) },
      advance: duration => {
        if (this.real) throw new Error('kubesim: a real clock cannot be advanced: start the server with clock: "manual"')
        this.advance(milliseconds(duration, 'clock.advance: the duration'))
      },
    }
    const faults = (text: string) => this.ask<{ faults: string }>('faults', { faults: text }).faults
    this.faults = {
      add: text => {
        if (typeof text !== 'string' || !text.trim()) throw new TypeError('kubesim: faults.add takes a text such as "on update pods times=1 do fail Conflict"')
        faults(text)
      },
      list: () => faults('').split('\n').filter(line => line),
      clear: () => { faults('clear') },
      release: () => { faults('release') },
    }
    this.follow()
  }

  /**
   * fetch sends a request to the API server, as the global fetch does: a path such as "/api/v1/namespaces", or a URL, whose host
   * is ignored. The body of a watch is a stream that continues until it is cancelled or the signal of init aborts.
   */
  readonly fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(typeof input === 'string' && input.startsWith('/') ? `http://kubesim.invalid${input}` : input, init)
    request.signal.throwIfAborted()
    const body = request.body ? new Uint8Array(await request.arrayBuffer()) : undefined
    const { pathname, search } = new URL(request.url)
    return respond(this, { method: request.method.toUpperCase(), target: pathname + search, headers: [...request.headers], body }, request.signal)
  }

  /** listen serves requests over HTTP, including watches, and returns the URL. It needs Node. */
  async listen(options: ListenOptions = {}): Promise<string> {
    this.check()
    if (this.listener) return this.listener.url
    const { listen } = await import('./listen.js')
    this.listener = await listen(this, options)
    return this.listener.url
  }

  /**
   * kubeconfig returns a kubeconfig file for clients of listen. If auth is "rbac", its user is an administrator, unless another
   * token is given: alicetoken belongs to a user without permissions. The address is http, to which kubectl sends no token.
   * @kubernetes/client-node accepts it because the file sets insecure-skip-tls-verify.
   */
  kubeconfig(options: { token?: string } = {}): string {
    if (!this.listener) throw new Error('kubesim: kubeconfig needs an address: call await srv.listen() first')
    const token = options.token ?? this.token
    return `${JSON.stringify({
      apiVersion: 'v1', kind: 'Config', 'current-context': 'kubesim',
      clusters: [{ name: 'kubesim', cluster: { server: this.listener.url, 'insecure-skip-tls-verify': true } }],
      users: [{ name: 'kubesim', user: token ? { token } : {} }],
      contexts: [{ name: 'kubesim', context: { cluster: 'kubesim', user: 'kubesim' } }],
    }, null, 2)}\n`
  }

  /**
   * settle advances the clock until controllers and kubelets have been idle for ten seconds. The pods of a new Deployment then run.
   * It throws if they are not idle within ten minutes of the cluster's time.
   */
  settle(): void {
    if (this.real) throw new Error('kubesim: settle moves the clock, which a real clock does by itself: wait, or start the server with clock: "manual"')
    this.time = this.ask<{ time: Time }>('settle').time
  }

  /**
   * do changes the cluster at once: "compact", "expire" (older revisions are 410 from now on), "restart 1",
   * "lag 1 pods", "cut 1", "resume 1", "close 1" (ends watches), "hold CLIENT", "release CLIENT", "stop job-controller" and so on.
   * The error for an unknown line lists all commands. Numbers are those of API servers, clients are prefixes of a User-Agent.
   */
  do(line: string): void {
    this.ask('treat', { line })
  }

  /** close ends watches, waiting requests and the listener. The server cannot be used afterwards. */
  async close(): Promise<void> {
    if (this.closed) return
    this.closed = true
    clearTimeout(this.wake)
    for (const receiver of [...this.receivers.values()]) receiver.end(true)
    this.receivers.clear()
    await this.listener?.close()
    this.engine.stop()
  }

  /** @internal send sends a request and returns a function that cancels it. */
  send(call: Call, receiver: Receiver): () => void {
    this.check()
    this.follow()
    const id = this.engine.nextID
    this.receivers.set(id, receiver)
    try {
      const { method, target, headers, body } = call
      this.ask('request', { method, target, headers, ...body && textOf(body) })
    } catch (error) {
      this.receivers.delete(id)
      throw error
    }
    this.schedule()
    return () => {
      if (this.receivers.delete(id) && !this.closed) this.ask('cancel', { request: id })
    }
  }

  private check(): void {
    if (this.closed) throw new Error('kubesim: the server is closed')
  }

  private ask<T>(kind: string, body: object = {}): T {
    this.check()
    return this.engine.ask<T>(kind, body)
  }

  private advance(ms: number): void {
    this.time = this.ask<{ time: Time }>('advance', { by: `${ms}ms` }).time
  }

  // follow advances a real clock to the time of day, and schedules the next call.
  private follow(): void {
    if (!this.real || this.closed) return
    const passed = Date.now() - this.time.now
    if (passed > 0) this.advance(passed)
    this.schedule()
  }

  // schedule calls follow when the next timer is due. This keeps the process alive only while a request waits.
  private schedule(): void {
    if (!this.real || this.closed) return
    clearTimeout(this.wake)
    this.wake = setTimeout(() => this.follow(), Math.min(this.time.next ?? 1000, 1000))
    if (this.receivers.size === 0) (this.wake as { unref?: () => void }).unref?.()
  }

  private receive(message: Message): void {
    const { request, body, encoding, code, headers, broken } = message as unknown as
      { request: number; body: string; encoding?: string; code: number; headers: [string, string][]; broken: boolean }
    const receiver = this.receivers.get(request)
    if (!receiver) return
    if (message.kind === 'response') receiver.head(code, headers)
    else if (message.kind === 'data') receiver.data(bytesOf(body, encoding))
    else if (message.kind === 'end') {
      this.receivers.delete(request)
      receiver.end(broken)
    }
  }
}

const withoutBody = [204, 205, 304]

// respond sends a request and returns its response as soon as the headers are known.
function respond(server: Server, call: Call, signal: AbortSignal): Promise<Response> {
  return new Promise((resolve, reject) => {
    let output: ReadableStreamDefaultController<Uint8Array> | undefined
    let cancel = (): void => {}
    const lost = (): Error => new TypeError(`kubesim: ${call.method} ${call.target}: the connection was lost`)
    const abort = (): void => {
      cancel()
      reject(signal.reason)
      output?.error(signal.reason)
    }
    const done = (): void => { signal.removeEventListener('abort', abort) }
    signal.addEventListener('abort', abort, { once: true })
    try {
      cancel = server.send(call, {
        head(code, headers) {
          if (code < 200) {
            queueMicrotask(() => cancel())
            return reject(new TypeError(`kubesim: ${call.method} ${call.target}: fetch has no WebSockets; exec, attach and port-forward need kubesim serve`))
          }
          const stream = new ReadableStream<Uint8Array>({ start(controller) { output = controller }, cancel() { done(); cancel() } })
          resolve(new Response(withoutBody.includes(code) ? null : stream as ReadableStream<Uint8Array<ArrayBuffer>>, { status: code, headers }))
        },
        data(bytes) { output?.enqueue(bytes) },
        end(broken) {
          done()
          if (broken) reject(lost())
          if (broken) output?.error(lost())
          else output?.close()
        },
      })
    } catch (error) {
      done()
      reject(error)
    }
  })
}
