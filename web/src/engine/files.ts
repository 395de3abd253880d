// Where the engine's files are, and how they are fetched. The manifest is known when the page is built, so that the
// first bytes of the engine are asked for before anything else runs.
import { signal } from '@preact/signals'
import { text } from '../text'
import type { Build, Manifest } from './protocol'

declare const __ENGINE__: Manifest | null

export const manifest: Manifest | null = __ENGINE__

/** received counts the engine's bytes that have come so far (uncompressed), of expected. */
export const received = signal(0)
export const expected = manifest?.core.raw ?? 0

export type EngineName = 'core' | 'cel'

const modules: Partial<Record<EngineName, Promise<WebAssembly.Module>>> = {}

export function engineURL(file: string): string {
  return new URL(`engine/${file}`, document.baseURI).href
}

/** compile fetches and compiles an engine while it streams in; the module can be posted to any number of Workers. */
export function compile(name: EngineName): Promise<WebAssembly.Module> {
  const build = manifest?.[name]
  if (!build) return Promise.reject(new Error(text.engine.none))
  modules[name] ??= stream(build).catch((error: unknown) => {
    delete modules[name]
    throw error
  })
  return modules[name]
}

async function stream(build: Build): Promise<WebAssembly.Module> {
  const answer = await fetch(engineURL(build.file), { credentials: 'same-origin' })
  if (!answer.ok || !answer.body) throw new Error(text.engine.noFile(answer.status, build.file))
  let count = 0
  const counter = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, out) {
      count += chunk.byteLength
      received.value = count
      out.enqueue(chunk)
    },
    flush: () => { performance.mark('received') },
  })
  const body = (answer.body as ReadableStream<Uint8Array<ArrayBuffer>>).pipeThrough(counter)
  const module = await WebAssembly.compileStreaming(new Response(body, { headers: { 'content-type': 'application/wasm' } }))
  performance.mark('compiled')
  return module
}

/** schemaData fetches the schema data of another Kubernetes minor, base64 for the message that hands it over. */
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
