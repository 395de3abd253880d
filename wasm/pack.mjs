// Packs a wasm file so that Brotli compresses it better: pack(bytes) returns a packed file, from which unpack.mjs restores the same bytes.
// unpack.mjs describes the format. It saves a third after Brotli, for three reasons:
//
//   - Similar values are stored together: all offsets after an i64.load, all indices of called functions.
//   - Frequent sequences of instructions become one symbol, an idiom. The idioms are computed from the file by byte pair
//     encoding: the most frequent pair of symbols becomes a new symbol, while symbols are left. Each idiom has its own
//     streams, so that the size of a frame is never next to the offset of a field.
//   - Values that can be computed are not stored: the sizes of functions, Go's return addresses and jumps.
//
// It is designed for the output of Go, and accepts any wasm file: functions that it cannot parse are copied.
import { deflateRawSync } from 'node:zlib'
import { learn, Text } from './idioms.mjs'
import { Body, Shapes, Unsupported } from './instructions.mjs'
import { signed, unsigned, unsignedOf, zigzag } from './leb.mjs'
import { Unpacker, checksum, header, hole, kind, magic } from './unpack.mjs'

const section = { elements: 9, code: 10, data: 11 }
const together = 4e6 // bytes of functions in one record: the page compiles one record while the next one arrives (2e6: 15 kB more of core)

/** pack returns the packed file. It verifies that unpacking restores the same bytes. */
export function pack(bytes) {
  const records = [asItIs(bytes, 0, Math.min(8, bytes.length))]
  for (let at = 8; at < bytes.length; ) {
    const [size, begin] = unsigned(bytes, at + 1)
    const end = begin + size
    if (end > bytes.length) throw new RangeError('pack: a section ends behind the file')
    const write = { [section.elements]: elements, [section.code]: code, [section.data]: data }[bytes[at]] ?? asItIs
    records.push(asItIs(bytes, at, begin), write(bytes, begin, end))
    at = end
  }
  const packed = file(records.flat())
  if (!unpack(packed).equals(bytes)) throw new Error('pack: unpacking does not restore the bytes')
  return packed
}

/** wrap returns a packed file of nearly the same size, without the time that pack takes. */
export const wrap = (bytes) => file([asItIs(bytes, 0, bytes.length)])

const file = (records) => Buffer.concat([Buffer.from(magic), ...records, record(kind.end, Buffer.alloc(0), 0)])

/** unpack returns the contents of a packed file. */
export function unpack(packed) {
  const unpacker = new Unpacker()
  const parts = [...unpacker.take(packed)]
  unpacker.close()
  return Buffer.concat(parts)
}

function record(what, payload, size) {
  const head = Buffer.alloc(header)
  head[0] = what
  head.writeUInt32LE(payload.length, 1)
  head.writeUInt32LE(size, 5)
  head.writeUInt32LE(checksum(payload, checksum(head.subarray(0, 9))), 9)
  return Buffer.concat([head, payload])
}

const asItIs = (bytes, begin, end) => record(kind.raw, bytes.subarray(begin, end), end - begin)

/** elements packs the longest run of consecutive numbers, which contains nearly all functions in Go's only table. */
function elements(bytes, begin, end) {
  let best = { begin: end, end, from: 0, to: 0 }
  let run = null
  for (let at = begin; at < end; ) {
    const [value, next] = unsigned(bytes, at)
    if (next > end) break
    if (value > 0xffffffff || unsignedOf(value).length !== next - at) run = null
    else if (run?.to !== value) run = { begin: at, from: value }
    if (run) Object.assign(run, { end: next, to: value + 1 })
    if (run && run.end - run.begin > best.end - best.begin) best = run
    at = next
  }
  const counted = record(kind.count, Buffer.concat([best.from, best.to].map(unsignedOf)), best.end - best.begin)
  return [asItIs(bytes, begin, best.begin), counted, asItIs(bytes, best.end, end)]
}

/** code packs the functions of the code section. */
function code(bytes, begin, end) {
  const [count, first] = unsigned(bytes, begin)
  const { functions, shapes, text } = read(bytes, first, count)
  const idioms = learn(text, shapes.list)
  const out = [asItIs(bytes, begin, first), record(kind.idioms, Buffer.concat(idioms.map(idiom)), 0)]
  const writer = new Functions(idioms, text)
  let at = first
  for (const { locals, copied, end } of functions) {
    writer.add(locals, copied)
    if (end - at < together && end < functions.at(-1).end) continue
    out.push(writer.record(end - at))
    at = end
  }
  return [...out, asItIs(bytes, at, end)]
}

/** read returns the functions in shapes. Functions that it cannot parse are in the stream of locals. */
function read(bytes, at, count) {
  const shapes = new Shapes()
  const text = new Text()
  const functions = []
  for (let index = 0; index < count; index++) {
    const [size, begin] = unsigned(bytes, at)
    const end = begin + size
    const before = { length: text.length, holes: text.holes }
    try {
      if (unsignedOf(size).length !== begin - at) throw new Unsupported('a size of more bytes than it needs')
      const body = new Body(bytes, begin, end, index, shapes)
      functions.push({ locals: body.locals(), copied: false, end })
      body.instructions((shape, fill) => text.add(shape, fill))
      text.end()
    } catch (error) {
      if (!(error instanceof Unsupported)) throw error
      Object.assign(text, before)
      functions[index] = { locals: Buffer.concat([Buffer.of(0), unsignedOf(end - at), bytes.subarray(at, end)]), copied: true, end }
    }
    at = end
  }
  return { functions, shapes, text }
}

/** idiom encodes the steps of a symbol. */
function idiom(steps) {
  const parts = steps.flatMap(({ bytes, opens, what }) => [unsignedOf(bytes.length), Buffer.from(bytes), unsignedOf(zigzag(opens)), Buffer.of(what)])
  return Buffer.concat([unsignedOf(steps.length), ...parts])
}

/** Functions writes the streams of functions. */
class Functions {
  next = 0 // index of the next hole of the text

  constructor(idioms, text) {
    let steps = 0
    this.holes = idioms.map((idiom) => idiom.map(({ what }) => [steps++, what]).filter(([, what]) => what !== hole.none).map(([step]) => step))
    this.steps = steps
    this.text = text
    this.parts = text.parts()
    this.begin()
  }

  begin() {
    this.count = 0
    this.locals = []
    this.symbols = []
    this.streams = Array.from({ length: this.steps }, () => new Stream())
  }

  add(locals, copied) {
    this.count++
    this.locals.push(locals)
    if (copied) return
    const symbols = this.parts.next().value
    this.symbols.push(Uint8Array.from(symbols))
    for (const symbol of symbols) {
      for (const step of this.holes[symbol]) {
        this.streams[step].add(this.text.fills, this.text.begin(this.next), this.text.ends[this.next])
        this.next++
      }
    }
  }

  /** record returns a record with the functions that were added since the last record. size is their size in bytes. */
  record(size) {
    const streams = [Buffer.concat(this.locals), Buffer.concat(this.symbols), ...this.streams.map((stream) => stream.contents())]
    const lengths = streams.map(({ length }) => unsignedOf(length))
    const out = record(kind.functions, Buffer.concat([unsignedOf(this.count), ...lengths, ...streams]), size)
    this.begin()
    return out
  }
}

/** Stream is a sequence of bytes that grows. */
class Stream {
  bytes = Buffer.alloc(64)
  length = 0

  /** add appends bytes[begin:end], which are few. */
  add(bytes, begin, end) {
    if (this.length + end - begin > this.bytes.length) this.bytes = Buffer.concat([this.bytes, Buffer.alloc(this.bytes.length + end - begin)])
    while (begin < end) this.bytes[this.length++] = bytes[begin++]
  }

  contents() {
    return this.bytes.subarray(0, this.length)
  }
}

const block = 0x10000 // bytes of data for which the best width is determined
const widths = [0, 4, 8, 12, 16, 20, 24, 32, 40, 48, 64] // 0 means no columns

/** data packs the data section, which is the initial memory. Parts of it are tables. */
function data(bytes, begin, end) {
  const [count, first] = unsigned(bytes, begin)
  const out = []
  let at = begin
  let next = first
  for (let n = 0; n < count; n++) {
    if (bytes[next] !== 0 || bytes[next + 1] !== 0x41) break // not the kind of segment that Go writes
    const [address, ends] = signed(bytes, next + 2)
    const [size, contents] = unsigned(bytes, ends + 1)
    const words = contents + ((4 - (address & 3)) & 3)
    next = contents + size
    if (next > end) break
    out.push(asItIs(bytes, at, Math.min(words, next)), ...columns(bytes, Math.min(words, next), next))
    at = next
  }
  return [...out, asItIs(bytes, at, end)]
}

/** columns packs each block with the width that compresses best. */
function columns(bytes, begin, end) {
  const runs = []
  for (let at = begin; at < end; at += block) {
    const part = bytes.subarray(at, Math.min(at + block, end))
    const sizes = widths.map((wide) => deflateRawSync(lessColumns(part, wide), { level: 3 }).length)
    const best = sizes.reduce((best, size, i) => (size < 0.9 * sizes[0] && size < sizes[best] ? i : best), 0)
    const wide = widths[best]
    if (runs.at(-1)?.wide === wide) runs.at(-1).end = at + part.length
    else runs.push({ wide, begin: at, end: at + part.length })
  }
  return runs.map(({ wide, begin, end }) => {
    const part = bytes.subarray(begin, end)
    if (wide === 0) return record(kind.raw, part, part.length)
    return record(kind.columns, Buffer.concat([unsignedOf(wide), lessColumns(part, wide)]), part.length)
  })
}

/** lessColumns returns the words of a buffer, each less the word that is `wide` bytes before it. */
function lessColumns(bytes, wide) {
  if (wide === 0) return bytes
  const out = Uint8Array.from(bytes)
  const words = new Uint32Array(out.buffer, 0, out.length >> 2) // little-endian, as on all machines that run node
  for (let at = words.length - 1; at >= wide / 4; at--) words[at] -= words[at - wide / 4]
  return out
}
