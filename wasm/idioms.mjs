// Learns from functions what their symbols are to stand for, for pack.mjs.
import { hole } from './unpack.mjs'

const most = 256 // symbols: one is a byte
const between = 0xffff // is written for a symbol between two functions
const seldom = 64 // a pair that is no more frequent becomes no idiom
const constants = 48 // how many instructions with a number that they often have are symbols

/** Text is functions in symbols, one behind the other, and what fills the holes of all of them. At first a symbol is the number of a shape. */
export class Text {
  symbols = new Uint16Array(1 << 16)
  length = 0 // of symbols
  fills = Buffer.alloc(1 << 16)
  ends = new Uint32Array(1 << 16) // of fills: where each one ends
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

  /** end says that a function ends. */
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

/**
 * learn returns a text in idioms, made of one in shapes, and the idioms: each is its steps. The most frequent pair of symbols
 * becomes a symbol until there are no more.
 */
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

/** learnConstants makes symbols of instructions with the numbers that they often have. */
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

/** eachNumber calls each(constant, symbol, fill) for each symbol; a constant is a symbol with a number of at most two bytes, -1 none. */
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

/** frequent returns the pair that is most frequent, if one is frequent at all. */
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

/** joined returns the steps of two idioms, of which the last and the first one are one if nothing has to be filled between. */
function joined(a, b) {
  const last = a.at(-1)
  if (last.what !== hole.none) return [...a, ...b]
  const [first, ...rest] = b
  return [...a.slice(0, -1), { bytes: [...last.bytes, ...first.bytes], opens: last.opens + first.opens, what: first.what }, ...rest]
}
