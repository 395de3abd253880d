// The last step of a build: it writes the service worker's list of files, compares the sizes with their budgets, and, with --dist, writes
// .br and .gz beside every file for static hosts. It exits with 1 if a budget is exceeded.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const dist = new URL('../dist/', import.meta.url).pathname
const KiB = 1024
const budgets = { page: 46 * KiB, later: 24 * KiB, apart: 12 * KiB, editor: 110 * KiB, language: 48 * KiB }

const squeezed = new Map() // the results of brotli

// brotli returns a file after compression.
function brotli(file) {
  if (!squeezed.has(file)) {
    const bytes = readFileSync(join(dist, file))
    squeezed.set(file, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }))
  }
  return squeezed.get(file)
}

function walk(folder) {
  return readdirSync(join(dist, folder), { withFileTypes: true }).flatMap(entry => {
    const path = folder ? `${folder}/${entry.name}` : entry.name
    return entry.isDirectory() ? walk(path) : [path]
  }).sort()
}

const compressed = /\.(br|gz)$/
const files = walk('').filter(file => !compressed.test(file))
const small = files.filter(file => !file.startsWith('engine/'))

// firstVisit returns the files that the service worker fetches when it is installed: the page, and the engine's files of a first visit.
function firstVisit() {
  const path = join(dist, 'engine/engine.json')
  const engine = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : null
  const parts = engine ? [engine.core, engine.exec, engine.trace].filter(Boolean).map(({ file }) => `engine/${file}`) : []
  return [...small.filter(file => !['index.html', 'sw.js'].includes(file)), ...parts].filter(file => existsSync(join(dist, file)))
}

const list = firstVisit()
const digest = createHash('sha256')
for (const file of [...list, 'index.html']) digest.update(file).update(readFileSync(join(dist, file)))
const worker = readFileSync(join(dist, 'sw.js'), 'utf8')
  .replace(/^const VERSION = .*$/m, `const VERSION = 'kubesim-${digest.digest('hex').slice(0, 12)}'`)
  .replace(/^const FILES = .*$/m, `const FILES = ${JSON.stringify(['./', ...list.map(file => `./${file}`)])}`)
writeFileSync(join(dist, 'sw.js'), worker)

// The budget page counts everything that the page needs to be usable: HTML, CSS, the scripts that it names, and the workers. The editor,
// each language other than English, and the parts that are loaded when they are first shown (src/ui/later.tsx) have budgets of their own.
// The budget apart counts the parts that no learner loads: the page of a served cluster, and the parts for teachers.
const html = readFileSync(join(dist, 'index.html'), 'utf8')
const first = file => file === 'index.html' || html.includes(file) || /\/(style|worker|unpacker)-/.test(file)
const weight = { page: 0, later: 0, apart: 0, editor: 0, language: 0 }
const part = file => (first(file) ? 'page' : /\/editor-/.test(file) ? 'editor' : /\/(attach|TokenForm|Builder|locate|Courses)-/.test(file) ? 'apart' : /\/text\.\w/.test(file) ? 'language' : 'later')
console.log('\n     raw     br  file')
for (const file of small.filter(file => /\.(html|css|js)$/.test(file) && file !== 'sw.js')) {
  const size = brotli(file).length
  weight[part(file)] += size
  console.log(`${String(statSync(join(dist, file)).size).padStart(8)}${String(size).padStart(7)}  ${file}`)
}
let heavy = false
for (const [name, limit] of Object.entries(budgets)) {
  const over = weight[name] > limit
  heavy ||= over
  console.log(`${name}: ${(weight[name] / KiB).toFixed(1)} KiB br of ${limit / KiB} KiB${over ? ': TOO HEAVY' : ''}`)
}

if (process.argv.includes('--dist')) {
  // The build of the engine has already compressed its files.
  for (const file of small.filter(file => statSync(join(dist, file)).size >= 200)) {
    const path = join(dist, file)
    writeFileSync(`${path}.br`, brotli(file))
    writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }))
  }
}
process.exit(heavy ? 1 : 0)
