// Runs the tests: node test/run.mjs. Version 2 of @kubernetes/client-node needs Node 22.19. If this Node is older, its tests run in the
// Node of the devDependencies.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const here = import.meta.dirname
const newer = join(here, '../node_modules/node/bin/node')
const [major, minor] = process.versions.node.split('.').map(Number)
const recent = major > 22 || major === 22 && minor >= 19
const files = readdirSync(here).filter(file => file.endsWith('.test.mjs')).map(file => join(here, file))

let failed = false
function run(node, env, files) {
  const { status } = spawnSync(node, ['--test', ...files], { stdio: 'inherit', env: { ...process.env, ...env } })
  failed ||= status !== 0
}

run(process.execPath, { CLIENT: '1' }, files)
const client = files.filter(file => file.endsWith('client-node.test.mjs'))
if (recent) run(process.execPath, { CLIENT: '2' }, client)
else if (existsSync(newer)) run(newer, { CLIENT: '2' }, client)
else console.log(`left out: @kubernetes/client-node 2 needs Node 22.19, and this is ${process.version}: npm ci in web/npm installs one`)
process.exit(failed ? 1 : 0)
