// toYAML prints a value that came as JSON, the way kubectl prints it: two spaces, lists not indented, strings quoted
// only where YAML would read them as something else.
type Value = null | boolean | number | string | Value[] | { [key: string]: Value }

// A plain string must not begin or end with a space, look like another type, or hold what YAML gives a meaning.
const plain = /^[A-Za-z_/.][^\n\t:#'"{}[\],&*!|>%@`\\]*(?::[^\s:#][^\n\t:#'"{}[\],&*!|>%@`\\]*)*$/
const other = /^(?:y|n|yes|no|on|off|true|false|null|~|\.inf|\.nan)$/i

export function toYAML(value: Value): string {
  return isBranch(value) ? branch(value, '').join('\n') + '\n' : scalar(value) + '\n'
}

function isBranch(value: Value | undefined): value is Value[] | { [key: string]: Value } {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0
}

function branch(value: Value[] | { [key: string]: Value }, indent: string): string[] {
  if (Array.isArray(value)) {
    return value.flatMap(item => {
      if (!isBranch(item)) return [`${indent}- ${scalar(item)}`]
      const lines = branch(item, indent + '  ')
      return [`${indent}- ${(lines[0] ?? '').slice(indent.length + 2)}`, ...lines.slice(1)]
    })
  }
  return Object.entries(value).flatMap(([key, item]) => {
    const name = `${indent}${quoted(key)}:`
    if (!isBranch(item)) return typeof item === 'string' && item.includes('\n') ? block(name, item, indent) : [`${name} ${scalar(item)}`]
    return [name, ...branch(item, Array.isArray(item) ? indent : indent + '  ')]
  })
}

function block(name: string, value: string, indent: string): string[] {
  const end = value.endsWith('\n') ? '' : '-'
  const lines = (end ? value : value.slice(0, -1)).split('\n')
  return [`${name} |${end}`, ...lines.map(line => (line ? `${indent}  ${line}` : ''))]
}

function scalar(value: Value): string {
  if (typeof value === 'string') return quoted(value)
  if (Array.isArray(value)) return '[]'
  if (typeof value === 'object' && value !== null) return '{}'
  return String(value)
}

function quoted(value: string): string {
  return plain.test(value) && !other.test(value) && value.trim() === value ? value : JSON.stringify(value)
}
