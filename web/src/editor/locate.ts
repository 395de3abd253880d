// locate finds the line of a manifest that an error of the server speaks of. The server names fields by path, as in
// spec.template.spec.containers[0].name; YAML in block style is followed by its indentation.

/** Complaint is one error of the server with the line it belongs to; line 0: none was found. Lines count from 1. */
export interface Complaint {
  line: number
  text: string
}

interface Status {
  message?: string
  details?: { causes?: { field?: string; message?: string }[] }
}

/** complaints reads a Status: its causes one by one, else its message. */
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

/** locate returns the line, from 1, of a field path; the nearest parent's line when the field itself is missing. */
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
  from: number // the first line of what lies inside
  indent: number // the least indentation of what lies inside
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
