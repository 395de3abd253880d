// Engine is the page's side of one Worker. A request has an id, and its answer resolves a promise; frames go to onFrames. When the Worker
// fails, its pending requests are rejected, and onExit is called once.
import { text } from '../text'
import { compile, engineURL, manifest, type EngineName } from './files'
import { protocolVersion, type EngineError, type Frame } from './protocol'

/** FramesMessage contains frames that follow those of earlier messages. With reset, only the first keep of these remain. */
export interface FramesMessage {
  branch: string
  reset?: boolean
  keep?: number
  frames: Frame[]
}

/** Refused is the error of a request that the engine refuses. needs names what the engine lacks; fatal means that the engine panicked. */
export class Refused extends Error {
  readonly needs: string | undefined
  readonly fatal: boolean
  constructor(error: EngineError) {
    super(error.text)
    this.needs = error.needs
    this.fatal = error.fatal ?? false
  }
}

interface Pending {
  resolve(answer: unknown): void
  reject(error: Error): void
}

export class Engine {
  private readonly worker: Worker
  private readonly pending = new Map<number, Pending>()
  private last = 0
  private dead = false

  onFrames: (message: FramesMessage) => void = () => {}
  onExit: (text: string) => void = () => {}
  onTime: (ms: number) => void = () => {}

  constructor(readonly name: EngineName) {
    this.worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' })
    this.worker.onmessage = ({ data }) => this.receive(data)
    this.worker.onerror = event => this.fail(event.message || text.engine.worker)
    if (manifest) this.worker.postMessage({ exec: engineURL(manifest.exec.file) })
    compile(name).then(
      module => this.worker.postMessage({ module }),
      (error: Error) => this.fail(error.message),
    )
  }

  /** ask sends a request and resolves with the engine's answer. It rejects with Refused if the engine refuses the request. */
  ask<T>(kind: string, body: object = {}): Promise<T> {
    if (this.dead) return Promise.reject(new Error(text.engine.dead))
    const id = ++this.last
    const message = JSON.stringify({ v: protocolVersion, id, kind, ...body })
    return new Promise<T>((resolve, reject) => {
      this.pending.set(id, { resolve: resolve as (answer: unknown) => void, reject })
      this.worker.postMessage(message)
    })
  }

  /** stop ends the Worker at once and frees its memory. If why is given, pending requests are rejected with it. */
  stop(why?: string): void {
    this.dead = true
    this.worker.terminate()
    if (why === undefined) return
    for (const { reject } of this.pending.values()) reject(new Error(why))
    this.pending.clear()
  }

  private receive(data: unknown): void {
    if (Array.isArray(data)) for (const bytes of data) this.read(bytes as Uint8Array)
    else if (typeof (data as { time?: number }).time === 'number') this.onTime((data as { time: number }).time)
    else this.fail((data as { exit: string }).exit || text.engine.ended)
  }

  private read(bytes: Uint8Array): void {
    const message = JSON.parse(new TextDecoder().decode(bytes))
    if (message.v !== protocolVersion) {
      this.fail(text.engine.protocol(message.v, protocolVersion))
      return
    }
    if (message.kind === 'frames') this.onFrames(message)
    else if (message.kind === 'ok') this.settle(message.id)?.resolve(message)
    else if (message.kind === 'error') this.refuse(message)
  }

  private refuse(message: { id?: number; error: EngineError }): void {
    const refused = new Refused(message.error)
    this.settle(message.id ?? 0)?.reject(refused)
    if (refused.fatal) this.onExit(refused.message)
  }

  private settle(id: number): Pending | undefined {
    const pending = this.pending.get(id)
    this.pending.delete(id)
    return pending
  }

  private fail(text: string): void {
    if (this.dead) return
    this.stop(text)
    this.onExit(text)
  }
}
