// Builds the two engines into web/public/engine: node wasm/build.mjs [--fast] [core|cel …]
// Builds one engine into FILE and nothing else: node wasm/build.mjs --raw=FILE core
//
//   core-HASH.wasm   with the build tags page and nocel: what a page loads first
//   cel-HASH.wasm    with the build tag page: has CEL, loaded when a log needs it
//   wasm_exec-HASH.js    the glue of the Go toolchain that built them
//   schema-1.35-HASH.bin …   data of other Kubernetes minors: 4 bytes with the length of the first file, both files
//   trace.json       the opening of the first lesson as frames, to be shown while the engine loads (see TestTrace)
//   engine.json      which file is which, and how large it is
//
// Beside each file lie .br and .gz for hosts that send them. A file over its budget fails the build: nobody waits for a
// page that grew by accident. Only Go and node are needed.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const out = join(root, 'web/public/engine')
const go = process.env.GO ?? 'go'

// The budgets, in bytes after Brotli (1 MB = 10^6 bytes).
const engines = [
  { name: 'core', tags: 'page,nocel', budget: 3e6 },
  { name: 'cel', tags: 'page', budget: 6e6 },
]

const fast = process.argv.includes('--fast') // compresses less, and checks no budget
const raw = process.argv.find((a) => a.startsWith('--raw='))?.slice('--raw='.length)
const wanted = process.argv.slice(2).filter((a) => !a.startsWith('-'))

const run = (args, env = {}) =>
  execFileSync(go, args, { cwd: root, env: { ...process.env, ...env }, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim()

const kept = new Set(['engine.json'])

// What has been compressed well is not compressed again.
const compressed = (path) => existsSync(`${path}.br`) && existsSync(`${path}.gz`) && (fast || !existsSync(`${path}.fast`))

// put writes bytes under a name with their hash, compressed beside, and returns what engine.json says of it.
function put(name, extension, bytes) {
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 12)
  const file = `${name}-${hash}.${extension}`
  const path = join(out, file)
  if (!compressed(path)) {
    writeFileSync(path, bytes)
    if (fast) writeFileSync(`${path}.fast`, '')
    else rmSync(`${path}.fast`, { force: true })
    writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }))
    const params = {
      [constants.BROTLI_PARAM_QUALITY]: fast ? 5 : 11,
      [constants.BROTLI_PARAM_LGWIN]: 24,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    }
    writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params }))
  }
  for (const end of ['', '.br', '.gz', '.fast']) kept.add(file + end)
  const size = (end) => readFileSync(path + end).length
  return { file, hash, raw: size(''), gz: size('.gz'), br: size('.br') }
}

// stage returns a folder with the go.mod that the engines are built with; slim.sh says why it is another one.
function stage() {
  const slim = mkdtempSync(join(tmpdir(), 'kubesim-wasm-'))
  process.on('exit', () => rmSync(slim, { recursive: true, force: true }))
  execFileSync('sh', ['wasm/slim/slim.sh', slim], { cwd: root, stdio: 'inherit' })
  return slim
}

// buildEngine builds without inlining, which costs little time and saves a fifth of the bytes.
function buildEngine({ tags }, slim, file) {
  const flags = [`-modfile=${join(slim, 'slim.mod')}`, '-tags', tags, '-trimpath', '-ldflags=-s -w', '-gcflags=all=-l']
  run(['build', ...flags, '-o', file, './wasm'], { GOOS: 'js', GOARCH: 'wasm' })
  return file
}

function pack(minor) {
  const read = (name) => readFileSync(join(root, 'sim/schema/data', name))
  const set = read(`${minor}.bin`)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(set.length)
  return put(`schema-${minor}`, 'bin', Buffer.concat([length, set, read(`docs-${minor}.bin`)]))
}

function minors() {
  const all = readdirSync(join(root, 'sim/schema/data')).filter((f) => /^\d+\.\d+\.bin$/.test(f)).map((f) => f.replace('.bin', ''))
  return all.sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).slice(0, -1) // the newest is in the engines
}

// keep keeps the engine that was built last.
function keep(name) {
  if (!before[name]?.file) return
  manifest[name] = before[name]
  for (const end of ['', '.br', '.gz', '.fast']) kept.add(before[name].file + end)
}

const mb = (n) => (n / 1e6).toFixed(2).padStart(6)

if (raw) {
  buildEngine(engines.find(({ name }) => name === wanted[0]), stage(), raw)
  process.exit(0)
}
mkdirSync(out, { recursive: true })
const before = existsSync(join(out, 'engine.json')) ? JSON.parse(readFileSync(join(out, 'engine.json'), 'utf8')) : {}
const manifest = { protocol: 1, go: run(['env', 'GOVERSION']), schemas: {} }
manifest.exec = put('wasm_exec', 'js', readFileSync(join(run(['env', 'GOROOT']), 'lib/wasm/wasm_exec.js')))
for (const minor of minors()) manifest.schemas[minor] = pack(minor)
manifest.trace = put('trace', 'json', Buffer.from(JSON.stringify(JSON.parse(readFileSync(join(root, 'wasm/trace.json'), 'utf8')))))
const over = []
const slim = stage()
console.log('engine      raw MB   gz MB   br MB   budget')
for (const engine of engines) {
  if (wanted.length > 0 && !wanted.includes(engine.name)) {
    keep(engine.name)
    continue
  }
  const made = put(engine.name, 'wasm', readFileSync(buildEngine(engine, slim, join(slim, 'engine.wasm'))))
  manifest[engine.name] = made
  console.log(`${engine.name.padEnd(9)} ${mb(made.raw)}  ${mb(made.gz)}  ${mb(made.br)}  ${mb(engine.budget)}`)
  if (!fast && made.br > engine.budget) over.push(`${engine.name} is ${mb(made.br - engine.budget).trim()} MB over its budget`)
}
writeFileSync(join(out, 'engine.json'), JSON.stringify(manifest, null, 2) + '\n')
for (const file of readdirSync(out)) if (!kept.has(file)) rmSync(join(out, file))
if (over.length > 0) {
  console.error(over.join('\n') + '\nfind what grew: go tool nm -size -sort size on a build without -s; go build -ldflags=-dumpdep | grep ReflectMethod must print nothing')
  process.exit(1)
}
