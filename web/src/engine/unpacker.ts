// The Worker that unpacks an engine (wasm/unpack.mjs) and compiles it while it arrives, so that the page stays responsive.
//
//   page ──Uint8Array──────▶ unpack ──▶ compile
//   page ──null────────────▶ end of the file
//   page ◀──{module} or {error: text}
import { unpacking } from '../../../wasm/unpack.mjs'

const { readable, writable } = unpacking()
const writer = writable.getWriter()
writer.closed.catch(() => {}) // the error is handled below

globalThis.onmessage = ({ data }: MessageEvent<Uint8Array | null>) => {
  const taken = data ? writer.write(data) : writer.close()
  taken.catch(() => {}) // writer.closed rejects with the same error
}

const answer = new Response(readable, { headers: { 'content-type': 'application/wasm' } })
WebAssembly.compileStreaming(answer).catch(async (error: Error) => {
  await writer.closed // if unpacking failed, throws that error, which is the cause
  throw error
}).then(
  module => globalThis.postMessage({ module }),
  (error: Error) => globalThis.postMessage({ error: error.message }),
)
