// Runs the browser tests in each browser that BROWSERS names, by default in Chromium. For a browser that is not installed it prints which
// package is missing.
import { spawnSync } from 'node:child_process'
import { browsers } from './find.mjs'
import { alone } from './files.mjs'

const names = (process.env.BROWSERS || 'chromium').split(/[\s,]+/)
const unknown = names.find(name => !browsers[name])
if (unknown) throw new Error(`BROWSERS names ${unknown}: there are ${Object.keys(browsers).join(', ')}`)

const folder = new URL('.', import.meta.url).pathname
const files = ['together.mjs', ...alone].map(file => folder + file)
let failed = false
for (const name of names) {
  if (!browsers[name].find()) {
    console.log(`left out: ${browsers[name].missing}`)
    continue
  }
  console.log(`== the page in ${name}`)
  const { status } = spawnSync(process.execPath, ['--test', '--test-concurrency=1', ...files], { stdio: 'inherit', env: { ...process.env, BROWSERS: name } })
  failed ||= status !== 0
}
process.exit(failed ? 1 : 0)
