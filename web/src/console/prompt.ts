// Helpers of the command line: how far Tab completes, and how a pasted text becomes operations.
import type { Op } from '../engine/protocol'
import { filesOf, manifests, putManifest } from '../state/manifests'
import { query, run } from '../state/session'

export interface Candidate {
  text: string
  detail: string
}

export interface Completion {
  from: number
  to: number
  items: Candidate[]
  /** prefix is the part that a shell would complete without a choice. The engine sets it for shell commands only. */
  prefix?: string
}

/** withManifests adds the page's manifests to the engine's completions after -f. The engine does not have them: an operation carries the
 * files that its line names. */
export function withManifests(line: string, { from, to, items, ...more }: Completion): Completion {
  const before = line.slice(0, from).trimEnd()
  const typed = line.slice(from, to)
  if (!/(^|\s)(-f|--filename)$/.test(before)) return { from, to, items, ...more }
  const names = Object.keys(manifests.value).filter(name => name.startsWith(typed) && !items.some(item => item.text === name))
  const all = [...items, ...names.map(name => ({ text: name, detail: 'file' }))] // the engine uses the same detail for files
  return { from, to, items: all }
}

/** reach returns the line after Tab: completed by the common beginning of all candidates, or by the candidate and a space if there is
 * only one. */
export function reach(line: string, { from, to, items, prefix }: Completion): string {
  const [only] = items
  if (!only) return line
  if (items.length === 1) return line.slice(0, from) + only.text + (only.text.endsWith('=') ? '' : ' ') + line.slice(to).trimStart()
  const common = prefix || commonPrefix(items.map(item => item.text))
  return common.length > to - from ? line.slice(0, from) + common + line.slice(to) : line
}

/** commonPrefix returns the longest common beginning of texts. */
export function commonPrefix(texts: readonly string[]): string {
  return texts.reduce((a, b) => {
    let n = 0
    while (n < a.length && a[n] === b[n]) n++
    return a.slice(0, n)
  })
}

// shellish matches texts that only the engine can split: with here-documents, continued lines or manifests.
const shellish = /<<|\\\r?\n|^\s*(apiVersion:|kind:|\{|---)/

/** opsOf returns the operations of a pasted text: its lines, with the files that its here-documents and manifests define. */
export async function opsOf(text: string): Promise<Op[]> {
  if (shellish.test(text)) return (await query<{ ops: Op[] }>('paste', { line: text })).ops
  return text.split('\n').map(line => ({ line: line.trim().replace(/^[$›] /, '') })).filter(({ line }) => line && !line.startsWith('#'))
}

/** runAll runs operations in order, and stops at the first that the engine refuses. It adds their files to the page's manifests. */
export async function runAll(ops: readonly Op[]): Promise<void> {
  for (const { line, files } of ops) {
    for (const [name, content] of Object.entries(files ?? {})) putManifest(name, content)
    if (!(await run(line, { ...filesOf(line), ...files }))) return
  }
}
