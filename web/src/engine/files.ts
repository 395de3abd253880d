// The addresses of the engine's files, and how they are fetched. The manifest is part of the build, so the engine's file is the first
// request.
import { signal } from '@preact/signals'
import { text } from '../text'
import type { Build, Manifest } from './protocol'

declare const __ENGINE__: Manifest | null

export const manifest: Manifest | null = __ENGINE__

/** received is the number of bytes of the engine that have arrived, expected their total, both packed and after HTTP decompression. */
export const received = signal(0)
export const expected = manifest?.core.raw ?? 0

export type EngineName = 'core' | 'cel'

const modules: Partial<Record<EngineName, Promise<WebAssembly.Module>>> = {}

export function engineURL(file: string): string {
  return new URL(`engine/${file}`, document.baseURI).href
}

/** compile fetches, unpacks and compiles an engine while it arrives. The module can be posted to any number of Workers. */
export function compile(name: EngineName): Promise<WebAssembly.Module> {
  const build = manifest?.[name]
  if (!build) return Promise.reject(new Error(text.engine.missing))
  modules[name] ??= stream(build).catch((error: unknown) => {
    delete modules[name]
    throw error
  })
  return modules[name]
}

async function stream(build: Build): Promise<WebAssembly.Module> {
  const unpacker = new Worker(new URL('./unpacker.ts', import.meta.url), { type: 'module' })
  const done = endWithPage(unpacker)
  try {
    const [module] = await Promise.all([moduleOf(unpacker), load(build, unpacker)])
    performance.mark('compiled')
    return module
  } finally {
    done()
    unpacker.terminate()
  }
}

// endWithPage ends the Worker when the user leaves the page, and loads the page again when the user comes back to it, until the returned
// function is called. Firefox would freeze the Worker with the page. Its compilation would then keep a thread of the browser's compiler
// waiting, and with few of them the next page would wait for its engine for ever.
function endWithPage(worker: Worker): () => void {
  const until = new AbortController()
  addEventListener('pagehide', () => worker.terminate(), until)
  addEventListener('pageshow', ({ persisted }) => { if (persisted) location.reload() }, until)
  return () => until.abort()
}

function moduleOf(unpacker: Worker): Promise<WebAssembly.Module> {
  return new Promise((resolve, reject) => {
    unpacker.onmessage = ({ data }: MessageEvent<{ module: WebAssembly.Module } | { error: string }>) => {
      if ('module' in data) resolve(data.module)
      else reject(new Error(text.engine.broken(data.error)))
    }
    unpacker.onerror = event => reject(new Error(event.message || text.engine.noUnpacker))
  })
}

async function load(build: Build, unpacker: Worker): Promise<void> {
  const answer = await fetch(engineURL(build.file), { credentials: 'same-origin' })
  if (!answer.ok || !answer.body) throw new Error(text.engine.noFile(answer.status, build.file))
  received.value = 0
  const reader = answer.body.getReader()
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    received.value += next.value.byteLength
    unpacker.postMessage(next.value, [next.value.buffer])
  }
  unpacker.postMessage(null)
  performance.mark('received')
}

/** schemaData fetches the schema data of another Kubernetes minor, in base64 for the message to the engine. */
export async function schemaData(minor: string): Promise<string> {
  const file = manifest?.schemas?.[minor]?.file
  if (!file) throw new Error(text.engine.noSchema(minor))
  const answer = await fetch(engineURL(file))
  if (!answer.ok) throw new Error(text.engine.noFile(answer.status, file))
  const bytes = new Uint8Array(await answer.arrayBuffer())
  let binary = ''
  for (let i = 0; i < bytes.length; i += 0x8000) binary += String.fromCharCode(...bytes.subarray(i, i + 0x8000))
  return btoa(binary)
}
