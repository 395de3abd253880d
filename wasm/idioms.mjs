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

  /** eachNumber calls symbolFor(constant) for each symbol with a number of at most two bytes in its hole; constant identifies both. If the
   * result is not -1, it replaces the symbol, and the number is removed. */
  eachNumber(idioms, symbolFor) {
    const whats = idioms.map(([{ what }]) => what)
    let [n, holes, from, to] = [0, 0, 0, 0]
    for (let i = 0; i < this.length; i++) {
      const symbol = this.symbols[i]
      const what = symbol === between ? hole.none : whats[symbol]
      if (what === hole.none) continue
      const end = this.ends[n++]
      const constant = what === hole.number && end - from < 3 ? symbol * 65536 + this.fills[from] * 256 + (end - from === 2 ? this.fills[from + 1] : 0) : -1
      const replaced = constant < 0 ? -1 : symbolFor(constant)
      if (replaced >= 0) {
        this.symbols[i] = replaced
        from = end
        continue
      }
      while (from < end) this.fills[to++] = this.fills[from++]
      this.ends[holes++] = to
    }
    this.holes = holes
  }
}

function twice(array, Kind) {
  const larger = new Kind(2 * array.length)
  larger.set(array)
  return larger
}

/** learn replaces the symbols of a text in shapes by those of idioms, and returns the steps of each idiom. The most frequent pair of symbols
 * becomes a new symbol until no pair is frequent or no symbol is left. */
export function learn(text, shapes) {
  const idioms = shapes.map((shape) => [shape])
  learnConstants(text, idioms)
  const pairs = countPairs(text)
  while (idioms.length < most) {
    const pair = frequent(pairs)
    if (!pair) break
    replace(text, pair, idioms.length, pairs)
    idioms.push(joined(...pair.map((symbol) => idioms[symbol])))
  }
  return idioms
}

/** learnConstants replaces instructions with frequent numbers by symbols without a hole. */
function learnConstants(text, idioms) {
  const times = new Map()
  text.eachNumber(idioms, (constant) => {
    times.set(constant, (times.get(constant) ?? 0) + 1)
    return -1
  })
  const often = [...times].filter(([, n]) => n > seldom).sort(([a, n], [b, m]) => m - n || a - b)
  const symbols = new Map()
  for (const [constant] of often.slice(0, Math.min(constants, most - idioms.length))) {
    const [symbol, first, second] = [constant >> 16, (constant >> 8) & 255, constant & 255]
    symbols.set(constant, idioms.length)
    idioms.push([{ ...idioms[symbol][0], bytes: [...idioms[symbol][0].bytes, first, ...(first > 127 ? [second] : [])], what: hole.none }])
  }
  text.eachNumber(idioms, (constant) => symbols.get(constant) ?? -1)
}

/** countPairs returns how often each pair of symbols occurs: pair [a, b] is at a * most + b. */
function countPairs({ symbols, length }) {
  const pairs = new Int32Array(most * most)
  for (let i = 1; i < length; i++) count(pairs, symbols[i - 1], symbols[i], 1)
  return pairs
}

function count(pairs, a, b, n) {
  if (a < most && b < most) pairs[a * most + b] += n
}

/** frequent returns the most frequent pair of symbols, or false if no pair is frequent enough. */
function frequent(pairs) {
  let best = 0
  for (let i = 0; i < pairs.length; i++) if (pairs[i] > pairs[best]) best = i
  return pairs[best] > seldom && [Math.floor(best / most), best % most]
}

/** replace replaces each occurrence of a pair by a symbol, and corrects the numbers of pairs. */
function replace(text, [first, second], symbol, pairs) {
  const { symbols, length } = text
  let to = 0
  for (let i = 0; i < length; i++) {
    if (symbols[i] !== first || symbols[i + 1] !== second || i + 1 === length) {
      symbols[to++] = symbols[i]
      continue
    }
    const before = to > 0 ? symbols[to - 1] : between
    const behind = i + 2 < length ? symbols[i + 2] : between
    count(pairs, before, first, -1)
    count(pairs, first, second, -1)
    count(pairs, second, behind, -1)
    count(pairs, before, symbol, 1)
    count(pairs, symbol, behind, 1)
    symbols[to++] = symbol
    i++
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
