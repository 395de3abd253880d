// Translations of English sentences of the engine. A sentence is looked up by its shape, which has {} in the place of its variable parts.
// The languages other than English load this file.

interface Shape {
  fixed: number // number of fixed characters
  pattern: RegExp
  nested: 'first' | 'last' | '' // position of a part that is itself a sentence
  words: string
}

// Shapes that wrap another sentence come first, then those with the most fixed characters.
const first = (a: Shape, b: Shape) => Number(b.nested === 'first') - Number(a.nested === 'first') || b.fixed - a.fixed

function shapeOf([shape, words]: [string, string]): Shape {
  const parts = shape.split('{}').map(part => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  const any = shape.includes(': ') || shape.endsWith(' is {}') ? '(.+?)' : '((?:(?!: ).)+?)' // the part before a colon contains no ": "
  const lead = shape.startsWith('{}') ? '((?:(?!: ).)+?)' : any
  return {
    fixed: shape.replaceAll('{}', '').length,
    pattern: new RegExp(`^${parts[0]}${lead}${parts.slice(1).join(any)}$`, 's'),
    nested: shape.startsWith('{};') ? 'first' : /(: | is )\{\}$/.test(shape) ? 'last' : '',
    words,
  }
}

/** translator returns a function that translates sentences. known has the translations by sentence or shape. Each part of "step 2 (x):
 * check: …" is translated by itself; unknown parts stay unchanged. */
export function translator(known: Record<string, string>, colon: string): (said: string) => string {
  const shapes = Object.entries(known).filter(([shape]) => shape.includes('{}')).map(shapeOf).sort(first)

  function sentence(said: string): string | null {
    if (Object.hasOwn(known, said)) return known[said] ?? ''
    for (const { pattern, nested, words } of shapes) {
      const found = pattern.exec(said)
      if (!found) continue
      const values = found.slice(1)
      if (nested === 'last') values.push(parts(values.pop() ?? '').words)
      else if (nested === 'first') {
        const before = sentence(values[0] ?? '')
        if (before === null) continue // only a part of it: a lead, which a later shape matches
        values[0] = before
      }
      let next = 0
      return words.replace(/\{(\d?)\}/g, (_, n: string) => values[n ? Number(n) - 1 : next++] ?? '')
    }
    return null
  }

  // parts translates a text part by part. begins reports whether its first part is known.
  function parts(said: string): { words: string; begins: boolean } {
    const whole = sentence(said)
    if (whole !== null) return { words: whole, begins: true }
    const at = said.indexOf(': ')
    if (at < 0) return { words: said, begins: false }
    const lead = sentence(said.slice(0, at))
    const rest = parts(said.slice(at + 2))
    return { words: `${lead ?? said.slice(0, at)}${lead !== null || rest.begins ? colon : ': '}${rest.words}`, begins: lead !== null }
  }

  return said => parts(said).words
}
