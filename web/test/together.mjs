// Runs the test files that can share a browser in one process, one after the other, as suites. A browser of its own, with a first page that
// compiles the engine, costs a file 4 s of CPU.
import { describe } from 'node:test'
import { together } from './files.mjs'

for (const file of together) describe(file, async () => { await import(`./${file}`) })
