// Computes the symbols of packed functions, for pack.mjs.
import { hole } from './unpack.mjs'

const most = 256 // symbols, so that one fits into a byte
const between = 0xffff // the symbol that separates functions
const seldom = 64 // a pair becomes an idiom only if it is more frequent than this
const constants = 24 // the most symbols for instructions with a frequent number

/** Text is a sequence of functions in symbols, with the operands of all their holes. Initially a symbol is the number of a shape. */
export class Text {
  symbols = new Uint16Array(1 << 16)
  length = 0 // number of symbols
  fills = Buffer.alloc(1 << 16)
  ends = new Uint32Array(1 << 16) // the end of each operand in fills
  holes = 0

  add(symbol, fill) {
    if (this.length === this.symbols.length) this.symbols = twice(this.symbols, Uint16Array)
    this.symbols[this.length++] = symbol
    if (fill.length === 0) return
    const begin = this.begin(this.holes)
    if (begin + fill.length > this.fills.length) this.fills = Buffer.concat([this.fills, this.fills])
    if (this.holes === this.ends.length) this.ends = twice(this.ends, Uint32Array)
    this.fills.set(fill, begin)
    this.ends[this.holes++] = begin + fill.length
  }

  /** end marks the end of a function. */
  end() {
    this.add(between, [])
  }

  /** parts yields the symbols of each function. */
  *parts() {
    for (let from = 0; from < this.length; ) {
      const to = this.symbols.indexOf(between, from)
      yield this.symbols.subarray(from, to)
      from = to + 1
    }
  }

  begin(n) {
    return n > 0 ? this.ends[n - 1] : 0
  }

  fill(n) {
    return this.fills.subarray(this.begin(n), this.ends[n])
  }
}

function twice(array, Kind) {
  const larger = new Kind(2 * array.length)
  larger.set(array)
  return larger
}

/** learn returns a text in idioms for a text in shapes, and the steps of each idiom. The most frequent pair of symbols becomes a new
 * symbol until no pair is frequent or no symbol is left. */
export function learn(text, shapes) {
  const idioms = shapes.map((shape) => [shape])
  const learnt = learnConstants(text, idioms)
  const pairs = new Uint32Array(most * most)
  while (idioms.length < most) {
    const pair = frequent(learnt, pairs)
    if (!pair) break
    replace(learnt, pair, idioms.length)
    idioms.push(joined(...pair.map((symbol) => idioms[symbol])))
  }
  return { text: learnt, idioms }
}

/** learnConstants replaces instructions with frequent numbers by symbols. */
function learnConstants(text, idioms) {
  const times = new Map()
  eachNumber(text, idioms, (constant) => {
    if (constant >= 0) times.set(constant, (times.get(constant) ?? 0) + 1)
  })
  const often = [...times].filter(([, n]) => n > seldom).sort(([a, n], [b, m]) => m - n || a - b)
  const symbols = new Map()
  for (const [constant] of often.slice(0, Math.min(constants, most - idioms.length))) {
    const [symbol, first, second] = [constant >> 16, (constant >> 8) & 255, constant & 255]
    symbols.set(constant, idioms.length)
    idioms.push([{ ...idioms[symbol][0], bytes: [...idioms[symbol][0].bytes, first, ...(first > 127 ? [second] : [])], what: hole.none }])
  }
  const out = new Text()
  eachNumber(text, idioms, (constant, symbol, fill) => {
    if (symbols.has(constant)) out.add(symbols.get(constant), [])
    else out.add(symbol, fill)
  })
  return out
}

/** eachNumber calls each(constant, symbol, fill) for each symbol. constant identifies a symbol with a number of at most two bytes, and is
 * -1 for other symbols. */
function eachNumber(text, idioms, each) {
  let n = 0
  for (let i = 0; i < text.length; i++) {
    const symbol = text.symbols[i]
    const what = symbol === between ? hole.none : idioms[symbol][0].what
    const fill = what === hole.none ? [] : text.fill(n++)
    const constant = what === hole.number && fill.length < 3 ? symbol * 65536 + fill[0] * 256 + (fill[1] ?? 0) : -1
    each(constant, symbol, fill)
  }
}

/** frequent returns the most frequent pair of symbols, or false if no pair is frequent enough. */
function frequent({ symbols, length }, pairs) {
  pairs.fill(0)
  for (let i = 1; i < length; i++) {
    const [a, b] = [symbols[i - 1], symbols[i]]
    if (a < most && b < most) pairs[a * most + b]++
  }
  let best = 0
  for (let i = 0; i < pairs.length; i++) if (pairs[i] > pairs[best]) best = i
  return pairs[best] > seldom && [Math.floor(best / most), best % most]
}

function replace(text, [first, second], symbol) {
  const { symbols } = text
  let to = 0
  for (let i = 0; i < text.length; i++) {
    if (symbols[i] === first && symbols[i + 1] === second && i + 1 < text.length) {
      symbols[to++] = symbol
      i++
    } else symbols[to++] = symbols[i]
  }
  text.length = to
}

/** joined concatenates the steps of two idioms. If the last step of a has no hole, it is merged with the first step of b. */
function joined(a, b) {
  const last = a.at(-1)
  if (last.what !== hole.none) return [...a, ...b]
  const [first, ...rest] = b
  return [...a.slice(0, -1), { bytes: [...last.bytes, ...first.bytes], opens: last.opens + first.opens, what: first.what }, ...rest]
}
