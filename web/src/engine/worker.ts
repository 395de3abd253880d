// The Worker that holds the engine: a Go program compiled to WebAssembly. It owns no state of its own.
//
//   page ──{module, exec}──▶ start the program        (once)
//   page ──Uint8Array──────▶ kubesimHandle ──▶ Uint8Array[] ──▶ page
//   page ◀──{exit: text}──── the program ended: nothing more will come

interface GoRuntime {
  importObject: WebAssembly.Imports
  run(instance: WebAssembly.Instance): Promise<void>
}

interface EngineScope {
  Go: new () => GoRuntime
  kubesimHandle?: (message: Uint8Array) => Uint8Array[]
  kubesimReady?: () => void
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
  for (const answer of scope.kubesimHandle(message)) scope.postMessage(answer, [answer.buffer as ArrayBuffer])
}

async function start(module: WebAssembly.Module, exec: string): Promise<void> {
  await import(/* @vite-ignore */ exec)
  const go = new scope.Go()
  const instance = await WebAssembly.instantiate(module, go.importObject)
  scope.kubesimReady = () => {
    for (const message of waiting.splice(0)) handle(message)
  }
  const ended = go.run(instance)
  if (scope.kubesimHandle) scope.kubesimReady()
  await ended
  scope.postMessage({ exit: 'the program ended' })
}

scope.onmessage = ({ data }) => {
  if (data instanceof Uint8Array) {
    try {
      handle(data)
    } catch (error) {
      scope.postMessage({ exit: String(error) })
    }
    return
  }
  start(data.module, data.exec).catch((error: unknown) => scope.postMessage({ exit: String(error) }))
}
