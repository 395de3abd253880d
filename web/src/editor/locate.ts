// This file finds the line of a manifest that an error of the server refers to. The server names fields by path, as in
// spec.template.spec.containers[0].name. The search follows the indentation of block-style YAML.

/** Complaint is an error of the server with its line, counted from 1. Line 0 means that no line was found. */
export interface Complaint {
  line: number
  text: string
}

interface Status {
  message?: string
  details?: { causes?: { field?: string; message?: string }[] }
}

/** complaints returns the causes of a Status, or its message if it has no causes. */
export function complaints(manifest: string, status: unknown): Complaint[] {
  if (!status) return []
  const { message = '', details } = status as Status
  const causes = (details?.causes ?? []).filter(cause => cause.message)
  if (causes.length > 0) {
    return causes.map(({ field = '', message: cause = '' }) => ({ line: locate(manifest, field), text: `${field}: ${cause}` }))
  }
  const unknown = [...message.matchAll(/(?:unknown|duplicate) field "([^"]+)"/g)]
  if (unknown.length > 0) return unknown.map(match => ({ line: locate(manifest, match[1] ?? ''), text: match[0] }))
  const yamlLine = /line (\d+)/.exec(message)
  return [{ line: Number(yamlLine?.[1] ?? 0), text: message }]
}

/** locate returns the line of a field path, counted from 1. If the field is missing, it returns the line of its nearest parent, or 0. */
export function locate(manifest: string, path: string): number {
  const steps = path.match(/[^.[\]]+|\[\d+\]|\[[^\]]+\]/g) ?? []
  const lines = manifest.split('\n')
  let found = -1
  let from = 0
  let indent = 0
  for (const step of steps) {
    const index = /^\[(\d+)\]$/.exec(step)
    const next = index ? item(lines, from, indent, Number(index[1])) : key(lines, from, indent, step.replace(/^\[|\]$/g, ''))
    if (!next) break
    found = next.line
    from = next.from
    indent = next.indent
  }
  return found + 1
}

interface Place {
  line: number
  from: number // the first line of its contents
  indent: number // the least indentation of its contents
}

function depth(line: string): number {
  return line.search(/[^ ]/)
}

function key(lines: string[], from: number, least: number, name: string): Place | null {
  let level = -1
  for (let i = from; i < lines.length; i++) {
    const line = (lines[i] ?? '').replace(/^( *)- /, '$1  ')
    const at = depth(line)
    if (at < 0 || line[at] === '#') continue
    if (at < least) return null
    if (level < 0) level = at
    if (at < level) return null
    const match = at === level ? /^ *["']?([^"':]+)["']?:(?: |$)/.exec(line) : null
    if (match?.[1] === name) return { line: i, from: i + 1, indent: i + 1 < lines.length && /^ *- /.test(lines[i + 1] ?? '') ? at : at + 1 }
  }
  return null
}

function item(lines: string[], from: number, least: number, index: number): Place | null {
  let level = -1
  let count = -1
  for (let i = from; i < lines.length; i++) {
    const line = lines[i] ?? ''
    const at = depth(line)
    if (at < 0) continue
    if (at < least || (level >= 0 && at < level)) return null
    if (!/^ *- /.test(line) || (level >= 0 && at !== level)) continue
    level = at
    if (++count === index) return { line: i, from: i, indent: at + 2 }
  }
  return null
}
