// The Worker that makes a module of a packed engine (wasm/unpack.mjs) while it arrives, so that the page stays free.
//
//   page ──Uint8Array──────▶ unpack ──▶ compile
//   page ──null────────────▶ that was all of it
//   page ◀──{module} or {error: text}
import { unpacking } from '../../../wasm/unpack.mjs'

const { readable, writable } = unpacking()
const writer = writable.getWriter()
writer.closed.catch(() => {}) // it is asked below

globalThis.onmessage = ({ data }: MessageEvent<Uint8Array | null>) => {
  const taken = data ? writer.write(data) : writer.close()
  taken.catch(() => {}) // writer.closed says it, too
}

const answer = new Response(readable, { headers: { 'content-type': 'application/wasm' } })
WebAssembly.compileStreaming(answer).catch(async (error: Error) => {
  await writer.closed // says why, if there was nothing to compile
  throw error
}).then(
  module => globalThis.postMessage({ module }),
  (error: Error) => globalThis.postMessage({ error: error.message }),
)
