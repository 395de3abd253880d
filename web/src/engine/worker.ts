// The Worker that runs the engine, a Go program compiled to WebAssembly. The Worker has no state of its own.
//
//   page ──{exec}──────────▶ load Go's wasm_exec.js  (once, while the module still arrives)
//   page ──{module}────────▶ start the program       (once)
//   page ──Uint8Array──────▶ kubesimHandle ──▶ Uint8Array[] ──▶ page (all of them in one message)
//   (no message for a while) ─▶ prepare: the engine prepares the next undo, in small parts
//   page ◀──{time: ms}────── the world's clock, while a message is being handled
//   page ◀──{exit: text}──── the program has ended, and no more messages follow

interface GoRuntime {
  importObject: WebAssembly.Imports
  run(instance: WebAssembly.Instance): Promise<void>
}

interface EngineScope {
  Go: new () => GoRuntime
  kubesimHandle?: (message: Uint8Array) => Uint8Array[]
  kubesimReady?: () => void
  kubesimTime?: (ms: number) => void
  postMessage(message: unknown, transfer?: Transferable[]): void
  onmessage: ((event: MessageEvent) => void) | null
}

const scope = globalThis as unknown as EngineScope
const waiting: Uint8Array[] = []

function handle(message: Uint8Array): void {
  if (!scope.kubesimHandle) {
    waiting.push(message)
    return
  }
  clearTimeout(idle)
  const answers = scope.kubesimHandle(message)
  scope.postMessage(answers, answers.map(answer => answer.buffer as ArrayBuffer))
  idle = setTimeout(prepare, quiet)
}

const quiet = 500 // ms without a message until the engine prepares the next undo
let idle: ReturnType<typeof setTimeout>

function prepare(): void {
  const answer = scope.kubesimHandle?.(new TextEncoder().encode('{"v":1,"kind":"prepare"}'))[0]
  if (JSON.parse(new TextDecoder().decode(answer)).more) idle = setTimeout(prepare)
}

const often = 150 // ms between two reports of the world's time during a long message
let reported = 0

scope.kubesimTime = ms => {
  const now = performance.now()
  if (now - reported < often) return
  reported = now
  scope.postMessage({ time: ms })
}

let glue: Promise<unknown> = Promise.resolve()

async function start(module: WebAssembly.Module): Promise<void> {
  await glue
  const go = new scope.Go()
  const instance = await WebAssembly.instantiate(module, go.importObject)
  scope.kubesimReady = () => {
    for (const message of waiting.splice(0)) handle(message)
  }
  const ended = go.run(instance)
  if (scope.kubesimHandle) scope.kubesimReady()
  await ended
  scope.postMessage({ exit: '' }) // the program is not supposed to end
}

scope.onmessage = ({ data }) => {
  if (typeof data === 'string') {
    try {
      handle(new TextEncoder().encode(data))
    } catch (error) {
      scope.postMessage({ exit: String(error) })
    }
    return
  }
  if (data.exec) glue = import(/* @vite-ignore */ data.exec)
  else start(data.module).catch((error: unknown) => scope.postMessage({ exit: String(error) }))
}
