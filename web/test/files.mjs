// The test files.
import { readdirSync } from 'node:fs'

/** alone are the files that run in processes of their own, because they start servers or measure the browser. */
export const alone = ['attach.test.mjs', 'many.test.mjs', 'speed.test.mjs']

/** together are the other files, which share a process and a browser. */
export const together = readdirSync(new URL('.', import.meta.url)).filter(file => file.endsWith('.test.mjs') && !alone.includes(file)).sort()
