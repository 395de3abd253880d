// Tests a built engine: node engine.mjs ENGINE.wasm WASM_EXEC.js SCHEMA-1.35.bin SOAK.txtar
// It solves each lesson and prints a line of JSON for it: the lesson's id, the hash of its frames, and the size of the engine's linear
// memory in bytes. Two more lines follow: one for a world with an older API server, whose data has to be loaded first, and with a kubectl
// command, and one for a soak that failed.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const [, , file, glue, older, soak] = process.argv
createRequire(import.meta.url)(glue)
const module = await WebAssembly.compile(readFileSync(file))

// start returns functions that send messages to a new engine and return the answers.
async function start() {
  const go = new globalThis.Go()
  const instance = await WebAssembly.instantiate(module, go.importObject)
  go.run(instance)
  const handle = globalThis.kubesimHandle
  let id = 0
  const ask = (kind, more = {}) => {
    const bytes = new TextEncoder().encode(JSON.stringify({ v: 1, id: ++id, kind, ...more }))
    return JSON.parse(new TextDecoder().decode(handle(bytes)[0]))
  }
  const send = (kind, more) => {
    const answer = ask(kind, more)
    if (answer.kind !== 'ok') throw new Error(`${kind} ${JSON.stringify(more)}: ${answer.error.text}`)
    return answer
  }
  return { ask, send, memory: () => instance.exports.mem.buffer.byteLength }
}

const { lessons } = (await start()).send('query', { view: 'lessons' }).data
for (const { id, engine } of lessons) {
  if (engine !== 'core') continue
  const { ask, send, memory } = await start()
  if (ask('lesson', { lesson: id }).error?.needs === 'schema/1.35') send('schema', { minor: '1.35', data: readFileSync(older).toString('base64') })
  let answer = send('lesson', { lesson: id })
  while (!answer.lesson.done) {
    answer = send('solve')
    send('query', { view: 'timeline' })
  }
  send('seek', { n: 0 }) // like a scrubbing learner, so that two worlds exist for a moment
  send('seek', { n: answer.head.n })
  console.log(JSON.stringify({ lesson: id, hash: send('hash').hash, memory: memory() }))
}

const { ask, send, memory } = await start()
const log = [{ line: 'create configmap a' }, { line: 'get configmap a --via=2' }, { line: 'kubectl get configmap a' }]
const world = { replicas: [{ version: '1.36' }, { version: '1.35' }], log }
const { needs } = ask('boot', world).error
send('schema', { minor: '1.35', data: readFileSync(older).toString('base64') })
console.log(JSON.stringify({ needs, hash: send('boot', world).hash, memory: memory() }))
send('boot', { scenario: readFileSync(soak, 'utf8') })
console.log(JSON.stringify({ soak: send('hash').hash }))
process.exit(0)
