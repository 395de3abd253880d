// Builds the package into web/npm/dist: node web/npm/build.mjs. The engines must have been built (make wasm).
// Builds the package into FOLDER, with everything that npm pack needs: node web/npm/build.mjs FOLDER
//
//   src/*.ts ─ tsc ─▶ dist/*.js, *.d.ts
//   wasm/unpack.mjs ─▶ dist/unpack.js       unpacks an engine
//   wasm_exec.js of Go ─▶ dist/glue.js      as a function, so that it defines no globals
//   web/public/engine ─▶ dist/engine/       core.bin, cel.bin, schema-1.35.bin …: compressed with gzip
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const here = import.meta.dirname
const root = join(here, '../..')
const engine = join(root, 'web/public/engine')
const out = process.argv[2] ?? here
const dist = join(out, 'dist')

if (!existsSync(join(engine, 'engine.json'))) {
  console.error('there is no engine in web/public/engine: run make wasm')
  process.exit(1)
}
const manifest = JSON.parse(readFileSync(join(engine, 'engine.json'), 'utf8'))
rmSync(dist, { recursive: true, force: true })
mkdirSync(join(dist, 'engine'), { recursive: true })
execFileSync(process.execPath, [join(root, 'web/node_modules/typescript/bin/tsc'), '-p', here, '--outDir', dist], { stdio: 'inherit' })
copyFileSync(join(root, 'wasm/unpack.mjs'), join(dist, 'unpack.js'))
const glue = readFileSync(join(engine, manifest.exec.file), 'utf8')
writeFileSync(join(dist, 'glue.js'), `// Go's wasm_exec.js in a function.\nexport function glue(globalThis, fs) {\n${glue}\nreturn globalThis.Go\n}\n`)
for (const name of ['core', 'cel']) copyFileSync(join(engine, `${manifest[name].file}.gz`), join(dist, `engine/${name}.bin`))
for (const [minor, { file }] of Object.entries(manifest.schemas)) copyFileSync(join(engine, `${file}.gz`), join(dist, `engine/schema-${minor}.bin`))
copyFileSync(join(root, 'LICENSE'), join(out, 'LICENSE'))
if (out !== here) for (const file of ['package.json', 'README.md']) copyFileSync(join(here, file), join(out, file))
