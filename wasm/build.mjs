// Builds the two engines into web/public/engine: node wasm/build.mjs [--fast] [core|cel …]
// Builds only one engine, into FILE: node wasm/build.mjs --raw=FILE core
//
//   core-HASH.wasm   with the build tags page and nocel, packed: the engine that a page loads first
//   cel-HASH.wasm    with the build tag page, packed: has CEL, loaded when a log needs it
//   wasm_exec-HASH.js    the glue of the Go toolchain that built them
//   schema-1.35-HASH.bin …   data of other Kubernetes minors: 4 bytes with the length of the first file, both files
//   trace.json       the frames of wasm/opener.txtar, shown while the engine loads (see TestTrace)
//   engine.json      the names and sizes of these files
//
// A packed engine (pack.mjs) is not a valid wasm file until the page has unpacked it. It has the extension because hosts that compress
// files on delivery choose them by their type.
//
// Each file has .br and .gz files beside it for static hosts. A file over its budget fails the build. Only Go and node are needed.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gunzipSync, gzip } from 'node:zlib'
import { lean } from './lean.mjs'
import { pack, wrap } from './pack.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const out = join(root, 'web/public/engine')
const go = process.env.GO ?? 'go'

// The budgets, in bytes on the wire: packed, after Brotli (1 MB = 10^6 bytes). The larger engine is built first: its compression takes
// longer than everything after it.
const engines = [
  { name: 'cel', tags: 'page', budget: 4e6 },
  { name: 'core', tags: 'page,nocel', budget: 2.4e6 },
]

const fast = process.argv.includes('--fast') // skips packing, compresses less, and checks no budget
const raw = process.argv.find((a) => a.startsWith('--raw='))?.slice('--raw='.length)
const wanted = process.argv.slice(2).filter((a) => !a.startsWith('-'))

function run(args, env = {}) {
  const stdio = ['ignore', 'pipe', 'inherit']
  return execFileSync(go, args, { cwd: root, env: { ...process.env, ...env }, encoding: 'utf8', stdio }).trim()
}

const kept = new Set(['engine.json'])

// compressed reports whether a file has been compressed at full quality, or at any quality for --fast.
const compressed = (path) =>
  existsSync(`${path}.br`) && existsSync(`${path}.gz`) && (fast || !existsSync(`${path}.fast`))

const hashOf = (bytes) => createHash('sha256').update(bytes).digest('hex').slice(0, 12)

// put writes a file whose name contains its hash, with compressed copies, and returns its entry for engine.json. Both compressions begin at
// once, on other threads, and continue while the next engine is built, which blocks this thread.
async function put(name, extension, bytes) {
  const hash = hashOf(bytes)
  const file = `${name}-${hash}.${extension}`
  const path = join(out, file)
  if (!compressed(path)) {
    writeFileSync(path, bytes)
    writeFileSync(`${path}.fast`, '') // removed after compression at full quality
    const params = {
      [constants.BROTLI_PARAM_QUALITY]: fast ? 5 : 11,
      [constants.BROTLI_PARAM_LGWIN]: 24,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      // smaller blocks and more direct distances than the default save a hundredth of a packed engine
      [constants.BROTLI_PARAM_LGBLOCK]: 16,
      [constants.BROTLI_PARAM_NPOSTFIX]: 3,
      [constants.BROTLI_PARAM_NDIRECT]: 64,
    }
    const [br, gz] = await Promise.all([promisify(brotliCompress)(bytes, { params }), promisify(gzip)(bytes, { level: 9 })])
    writeFileSync(`${path}.br`, br)
    writeFileSync(`${path}.gz`, gz)
    if (!fast) rmSync(`${path}.fast`)
  }
  for (const end of ['', '.br', '.gz', '.fast']) kept.add(file + end)
  const size = (end) => readFileSync(path + end).length
  return { file, hash, raw: size(''), gz: size('.gz'), br: size('.br') }
}

// stage returns a temporary folder with the go.mod for the engines; slim.sh explains why they have their own. The length of its path is
// constant (see buildEngine).
function stage() {
  const slim = mkdtempSync(join(tmpdir(), 'kubesim-wasm-').padEnd(58, '-'))
  process.on('exit', () => rmSync(slim, { recursive: true, force: true }))
  execFileSync('sh', ['wasm/slim/slim.sh', slim], { cwd: root, stdio: 'inherit' })
  return slim
}

// unpackedTexts returns an overlay (go help build) in which the embedded descriptions are not compressed, because Brotli compresses the text
// a fifth better than gzip does.
function unpackedTexts(slim) {
  const replace = {}
  for (const name of ['docs', 'prose']) {
    const packed = join(root, `sim/schema/data/${name}-${embedded}.bin`)
    replace[packed] = join(slim, `${name}.bin`)
    writeFileSync(replace[packed], gunzipSync(readFileSync(packed)))
  }
  const overlay = join(slim, 'overlay.json')
  writeFileSync(overlay, JSON.stringify({ Replace: replace }))
  return overlay
}

// inlined are the packages whose own code is compiled with inlining. The collector and the allocator call small functions most often: with
// inlining, a replay of 2,000 lines takes a sixth less time, and the compressed file has 22 kB more. With maps (internal/runtime/...) and
// the hash of the frames it would be a fifth, and 29 kB.
const inlined = ['runtime']

// buildEngine builds an engine without inlining in other packages, which costs little time and saves a fifth of the bytes, and rewrites the
// file with lean.mjs, which saves a tenth after compression. The build is reproducible: it has no build id, and the path of the temporary
// folder, which the linker writes, is replaced by a name of the same length.
function buildEngine({ tags }, slim, file) {
  const flags = [`-modfile=${join(slim, 'slim.mod')}`, `-overlay=${unpackedTexts(slim)}`, '-tags', tags, '-trimpath', '-ldflags=-s -w -buildid=', '-gcflags=all=-l', ...inlined.map((name) => `-gcflags=${name}=`)]
  run(['build', ...flags, '-o', file, './wasm'], { GOOS: 'js', GOARCH: 'wasm' })
  const built = readFileSync(file)
  for (let at = built.indexOf(slim); at >= 0; at = built.indexOf(slim, at + 1)) built.write('slim'.padEnd(slim.length, '-'), at)
  writeFileSync(file, lean(built))
  return file
}

// putEngine builds an engine and packs it. The hash is that of the wasm file, independent of the packing.
async function putEngine(engine, slim) {
  const wasm = readFileSync(buildEngine(engine, slim, join(slim, 'engine.wasm')))
  const size = await put(engine.name, 'wasm', fast ? wrap(wasm) : pack(wasm))
  return { ...size, hash: hashOf(wasm), wasm: wasm.length }
}

function putMinor(minor) {
  const read = (name) => readFileSync(join(root, 'sim/schema/data', name))
  const set = read(`${minor}.bin`)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(set.length)
  return put(`schema-${minor}`, 'bin', Buffer.concat([length, set, read(`docs-${minor}.bin`)]))
}

// embedded is the minor whose data is part of the engines.
const embedded = /data\/(\d+\.\d+)\.bin/.exec(readFileSync(join(root, 'sim/schema/data_default.go'), 'utf8'))[1]

function minors() {
  const files = readdirSync(join(root, 'sim/schema/data'))
  const all = files.filter((f) => /^\d+\.\d+\.bin$/.test(f)).map((f) => f.replace('.bin', ''))
  return all.sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).filter((minor) => minor !== embedded)
}

// keep keeps the files and the entry of an engine from the previous build.
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
const manifest = { protocol: 1, go: run(['env', 'GOVERSION']), minor: embedded, schemas: {} }
manifest.exec = await put('wasm_exec', 'js', readFileSync(join(run(['env', 'GOROOT']), 'lib/wasm/wasm_exec.js')))
for (const minor of minors()) manifest.schemas[minor] = await putMinor(minor)
const trace = JSON.parse(readFileSync(join(root, 'wasm/trace.json'), 'utf8'))
manifest.trace = await put('trace', 'json', Buffer.from(JSON.stringify(trace)))
const over = []
const slim = stage()
const made = {}
for (const engine of engines) {
  if (wanted.length > 0 && !wanted.includes(engine.name)) keep(engine.name)
  else made[engine.name] = putEngine(engine, slim)
}
console.log('engine     wasm MB  packed MB   gz MB   br MB   budget')
for (const { name, budget } of engines.filter(({ name }) => made[name])) {
  const size = (manifest[name] = await made[name])
  console.log(`${name.padEnd(9)}  ${mb(size.wasm)}     ${mb(size.raw)}  ${mb(size.gz)}  ${mb(size.br)}   ${mb(budget)}`)
  if (!fast && size.br > budget) over.push(`${name} is ${mb(size.br - budget).trim()} MB over its budget`)
}
writeFileSync(join(out, 'engine.json'), JSON.stringify(manifest, null, 2) + '\n')
for (const file of readdirSync(out)) if (!kept.has(file)) rmSync(join(out, file))
if (over.length > 0) {
  console.error(over.join('\n'))
  console.error('find what grew: go tool nm -size -sort size on a build without -s;')
  console.error('go build -ldflags=-dumpdep … | grep ReflectMethod must print nothing, otherwise the linker keeps all methods')
  process.exit(1)
}
