// Runs the browser tests, or says what is missing for them.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { findBrowser, missing } from './find.mjs'

if (!findBrowser()) {
  console.log(`left out: ${missing}`)
  process.exit(0)
}
const folder = new URL('.', import.meta.url).pathname
const files = readdirSync(folder).filter(file => file.endsWith('.test.mjs')).sort().map(file => folder + file)
const { status } = spawnSync(process.execPath, ['--test', '--test-concurrency=1', ...files], { stdio: 'inherit' })
process.exit(status ?? 1)
