// Sentences of somebody who speaks English, in another language: the engine's. They are looked up by their shapes, which have {} for
// what a sentence is about. It is fetched with the language.

interface Shape {
  fixed: number // how much of it is the same for all
  pattern: RegExp
  nested: 'first' | 'last' | '' // a part that is a sentence, too
  words: string
}

// What is put behind other sentences comes first, then those that say most.
const first = (a: Shape, b: Shape) => Number(b.nested === 'first') - Number(a.nested === 'first') || b.fixed - a.fixed

function shapeOf([shape, words]: [string, string]): Shape {
  const parts = shape.split('{}').map(part => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  const any = shape.includes(': ') || shape.endsWith(' is {}') ? '(.+?)' : '((?:(?!: ).)+?)' // a lead ends with its colon
  const lead = shape.startsWith('{}') ? '((?:(?!: ).)+?)' : any
  return {
    fixed: shape.replaceAll('{}', '').length,
    pattern: new RegExp(`^${parts[0]}${lead}${parts.slice(1).join(any)}$`, 's'),
    nested: shape.startsWith('{};') ? 'first' : /(: | is )\{\}$/.test(shape) ? 'last' : '',
    words,
  }
}

/** translator returns what says a sentence in another language, that of the words of known sentences. Of "step 2 (x): check: …" each part
 * counts; what is not known stays as it is. */
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
        if (before === null) continue // not all of it: what leads to the sentence comes before
        values[0] = before
      }
      let next = 0
      return words.replace(/\{(\d?)\}/g, (_, n: string) => values[n ? Number(n) - 1 : next++] ?? '')
    }
    return null
  }

  // begins says whether the first part of what was said is known.
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
