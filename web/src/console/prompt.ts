// What a prompt does with what is typed: how far Tab goes, and the lines that a pasted text is.
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
  /** prefix is as far as a shell goes by itself; the engine says so of lines of a shell. */
  prefix?: string
}

/** withManifests adds the manifests of the page to what the engine knows: an operation brings a file along when it names it. */
export function withManifests(line: string, { from, to, items, ...more }: Completion): Completion {
  const before = line.slice(0, from).trimEnd()
  const typed = line.slice(from, to)
  if (!/(^|\s)(-f|--filename)$/.test(before)) return { from, to, items, ...more }
  const names = Object.keys(manifests.value).filter(name => name.startsWith(typed) && !items.some(item => item.text === name))
  const all = [...items, ...names.map(name => ({ text: name, detail: 'file' }))] // the engine's own word
  return { from, to, items: all }
}

/** reach is how far Tab goes in a line: to the end of what all candidates begin with; with one of them, past its end. */
export function reach(line: string, { from, to, items, prefix }: Completion): string {
  const [only] = items
  if (!only) return line
  if (items.length === 1) return line.slice(0, from) + only.text + (only.text.endsWith('=') ? '' : ' ') + line.slice(to).trimStart()
  const common = prefix || commonPrefix(items.map(item => item.text))
  return common.length > to - from ? line.slice(0, from) + common + line.slice(to) : line
}

/** commonPrefix is what all texts begin with. */
export function commonPrefix(texts: readonly string[]): string {
  return texts.reduce((a, b) => {
    let n = 0
    while (n < a.length && a[n] === b[n]) n++
    return a.slice(0, n)
  })
}

// Only what a shell would read on needs the words of a shell.
const shellish = /<<|\\\r?\n|^\s*(apiVersion:|kind:|\{|---)/

/** opsOf are the operations that a pasted text is: its lines, and the files that its here-documents and manifests have become. */
export async function opsOf(text: string): Promise<Op[]> {
  if (shellish.test(text)) return (await query<{ ops: Op[] }>('paste', { line: text })).ops
  return text.split('\n').map(line => ({ line: line.trim().replace(/^[$›] /, '') })).filter(({ line }) => line && !line.startsWith('#'))
}

/** runAll runs operations one after the other, until one is refused. Their files become manifests of the page. */
export async function runAll(ops: readonly Op[]): Promise<void> {
  for (const { line, files } of ops) {
    for (const [name, content] of Object.entries(files ?? {})) putManifest(name, content)
    if (!(await run(line, { ...filesOf(line), ...files }))) return
  }
}
