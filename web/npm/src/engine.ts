// The engine: kubesim, a Go program compiled to WebAssembly, in this thread. It receives messages (wasm/README.md) and answers
// each before ask returns.
//
//   Engine.load ─▶ engine/NAME.bin ─▶ gunzip ─▶ unpack ─▶ WebAssembly.Module, kept for the next Engine
//   ask(kind, body) ─▶ kubesimHandle ─▶ the answer, and messages for onMessage: frames, responses
import { glue } from './glue.js'
import { unpacking } from './unpack.js'

/** EngineName names an engine: cel evaluates CEL expressions, core is smaller and does not. */
export type EngineName = 'core' | 'cel'

/** Refused is the error of a message that the engine refuses. */
export class Refused extends Error {
  override name = 'KubesimError'
  /** needs names the data to load before the message can be sent again: "cel" or, for example, "schema/1.35". */
  readonly needs: string | undefined
  constructor(error: { text: string; needs?: string }) {
    super(`kubesim: ${error.text.replace(/^kubesim: /, '')}`)
    this.needs = error.needs
  }
}

/** Message is a message of the engine that is not the answer to a request. */
export interface Message {
  kind: string
  [field: string]: unknown
}

interface Scope {
  kubesimHandle?: (message: Uint8Array) => Uint8Array[]
  kubesimReady?: () => void
  fs?: { writeSync(fd: number, bytes: Uint8Array): number }
  [name: string]: unknown
}

const protocol = 1
const inNode = typeof process === 'object' && Boolean(process.versions?.node)
const modules = new Map<EngineName, Promise<WebAssembly.Module>>()

/** bytesOf returns a file of this package. */
async function bytesOf(file: string): Promise<ReadableStream<Uint8Array>> {
  const url = new URL(`./engine/${file}`, import.meta.url)
  if (inNode && url.protocol === 'file:') {
    const { readFile } = await import(/* @vite-ignore */ /* webpackIgnore: true */ 'node:fs/promises')
    return new Blob([await readFile(url)]).stream() as ReadableStream<Uint8Array>
  }
  const response = await fetch(url)
  if (!response.ok || !response.body) throw new Error(`kubesim: ${url} cannot be loaded: ${response.status}; serve the folder dist/engine of the package beside its scripts`)
  return response.body
}

// gunzipped returns a file of this package, decompressed. Some hosts decompress files on delivery, so gunzipped checks the first bytes.
async function gunzipped(file: string): Promise<ReadableStream<Uint8Array>> {
  const [head, whole] = (await bytesOf(file)).tee()
  const reader = head.getReader()
  const { value } = await reader.read()
  void reader.cancel() // the promise resolves after the other branch has been read, so it is not awaited
  return value?.[0] === 0x1f && value[1] === 0x8b ? whole.pipeThrough(new DecompressionStream('gzip') as unknown as TransformStream<Uint8Array, Uint8Array>) : whole
}

function moduleOf(name: EngineName): Promise<WebAssembly.Module> {
  const known = modules.get(name)
  if (known) return known
  const module = gunzipped(`${name}.bin`)
    .then(packed => WebAssembly.compileStreaming(new Response(packed.pipeThrough(unpacking()) as ReadableStream<Uint8Array<ArrayBuffer>>, { headers: { 'content-type': 'application/wasm' } })))
  modules.set(name, module)
  module.catch(() => modules.delete(name)) // the next load tries again
  return module
}

async function base64Of(stream: ReadableStream<Uint8Array>): Promise<string> {
  const bytes = new Uint8Array(await new Response(stream as ReadableStream<Uint8Array<ArrayBuffer>>).arrayBuffer())
  let binary = ''
  for (let i = 0; i < bytes.length; i += 0x8000) binary += String.fromCharCode(...bytes.subarray(i, i + 0x8000))
  return btoa(binary)
}

/** Engine is one running engine. */
export class Engine {
  /** onMessage is called with the engine's other messages, before ask returns. */
  onMessage: (message: Message) => void = () => {}

  private last = 0
  private readonly encoder = new TextEncoder()
  private readonly decoder = new TextDecoder()

  private constructor(readonly name: EngineName, private readonly scope: Scope, private readonly end: () => void) {}

  /** load starts an engine. The first engine of a name takes about a second, the others a tenth of that. */
  static async load(name: EngineName): Promise<Engine> {
    const module = await moduleOf(name)
    const scope: Scope = { Object, Array, Uint8Array, Error, Date, crypto, performance, TextEncoder, TextDecoder }
    const Go = glue(scope, { writeSync: (fd, bytes) => scope.fs?.writeSync(fd, bytes) ?? bytes.length })
    const go = new Go()
    let end = (): void => { for (const timer of go._scheduledTimeouts.values()) clearTimeout(timer) }
    await new Promise<void>((resolve, reject) => {
      scope.kubesimReady = resolve
      go.exit = code => reject(new Error(`kubesim: the engine ended with code ${code}; the console shows why`))
      WebAssembly.instantiate(module, go.importObject).then(instance => go.run(instance)).then(() => { scope.kubesimHandle = undefined }, reject)
    })
    return new Engine(name, scope, () => { end(); end = () => {} })
  }

  /** nextID returns the id that the next message will have. */
  get nextID(): number { return this.last + 1 }

  /** ask sends a message and returns the engine's answer. It throws Refused if the engine refuses the message. */
  ask<T>(kind: string, body: object = {}): T {
    const handle = this.scope.kubesimHandle
    if (!handle) throw new Error('kubesim: the engine has ended: start a new one')
    const id = ++this.last
    const [answer, ...rest] = handle(this.encoder.encode(JSON.stringify({ v: protocol, id, kind, ...body }))).map(bytes => JSON.parse(this.decoder.decode(bytes)) as Message)
    for (const message of rest) this.onMessage(message)
    if (answer?.kind === 'error') throw new Refused(answer.error as { text: string; needs?: string })
    return answer as T
  }

  /** loadSchema loads the data that Refused.needs names as "schema/1.35". */
  async loadSchema(needs: string): Promise<void> {
    const minor = needs.replace('schema/', '')
    this.ask('schema', { minor, data: await base64Of(await gunzipped(`schema-${minor}.bin`)) })
  }

  /** stop ends the engine. Its memory is freed when it is no longer referenced. */
  stop(): void {
    this.end()
    this.scope.kubesimHandle = undefined
  }
}
