// The tests of the tarball of npm pack: its bytes are reproducible, and it works in an empty project.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'

const here = join(import.meta.dirname, '..')
const folder = mkdtempSync(join(tmpdir(), 'kubesim-npm-'))
const readme = readFileSync(join(here, 'README.md'), 'utf8')
const run = (cwd, command, ...args) => execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, NODE_TEST_CONTEXT: undefined } })

/** packed builds the package from scratch and returns its tarball. */
function packed(name) {
  const built = join(folder, name)
  mkdirSync(built)
  run(here, process.execPath, 'build.mjs', built)
  return join(built, JSON.parse(run(built, 'npm', 'pack', '--json'))[0].filename)
}

let tarball
before(() => { tarball = packed('one') })
after(() => rmSync(folder, { recursive: true }))

test('building twice gives the same tarball', () => {
  const sum = file => createHash('sha256').update(readFileSync(file)).digest('hex')
  assert.equal(sum(packed('two')), sum(tarball))
})

test('the test of the README passes in an empty project', () => {
  const project = join(folder, 'project')
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), '{}')
  run(project, 'npm', 'install', '--offline', '--no-audit', '--no-fund', '--save-dev', tarball)
  const [, script] = /```js\n(import assert.*?)```/s.exec(readme)
  writeFileSync(join(project, 'web.test.mjs'), script)
  assert.match(run(project, process.execPath, '--test'), /pass 1\b/)
  assert.deepEqual(Object.keys(JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8')).packages), ['', 'node_modules/kubesim'])
})

test('the types fit both majors of the client', () => {
  const options = ['--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', '--target', 'es2022', '--module', 'esnext', '--moduleResolution', 'bundler', '--typeRoots', '../node_modules/@types', '--types', 'node']
  run(here, process.execPath, '../node_modules/typescript/bin/tsc', ...options, 'test/types.ts')
})

test('the other scripts of the README run', () => {
  const scripts = [...readme.matchAll(/```js\n(import \* as k8s.*?)```/gs)].map(([, script]) => script)
  assert.equal(scripts.length, 2)
  for (const [i, script] of scripts.entries()) {
    const file = join(here, `test/readme-${i}.tmp.mjs`) // in a folder in which Node finds the client
    const text = script.replace('@kubernetes/client-node', 'client-node-1')
    try {
      writeFileSync(file, `import { start } from 'kubesim'\nconst srv = await start()\n${text}\nawait core.listPodForAllNamespaces()\nawait srv.close()\nprocess.exit(0)\n`)
      run(here, process.execPath, file)
    } finally {
      rmSync(file, { force: true })
    }
  }
})

test('the README is short', () => {
  assert.ok(readme.split('\n').length <= 151, 'at most 150 lines')
})
