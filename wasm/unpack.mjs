// Restores a wasm file from a packed one (pack.mjs) while it arrives. A page loads only this file.
//
//   file     magic record* record of kind end
//   record   kind, 1 byte | size of the payload, size of its contents, checksum of the rest: 4 bytes each | payload
//
//   raw        bytes, unchanged
//   count      two numbers: all numbers from the first up to the second, in LEB128
//   columns    the width, then words of 4 bytes: each less the word that is `width` bytes before it
//   idioms     the steps of each symbol
//   functions  consecutive function bodies, in streams: see below
//   end        empty
//
// A function is a sequence of symbols. A symbol stands for steps. A step writes some bytes of code, which open a number of blocks
// more than they close, and then fills a hole with an operand from the step's own stream:
//
//   symbol    20 01 41 08 6b … 42 [return] 37 03 00 41 00 10 [number] 23 00 21 01 0d [level] 0b      one call, as Go writes it
//   streams   locals of all functions | symbols of all functions | one stream for each hole, in the order of the idioms
//
// The operands in the streams, by the kind of the hole. Numbers are in LEB128:
//
//   none      nothing: the step only writes bytes
//   number    the number in the code, signed or not
//   four, eight   the bytes of a float
//   level     of a branch: the level of its target block, counted from the outermost block
//   resume    Go's switch at the head of a function: blocks, and a br_table to the end of each. The stream has the number of
//             blocks less one, and for each block the number of table entries that lead to it
//   return    a return address: Go's number of the function, and the entry of its table that leads to the end of the innermost
//             block. The stream has the difference between the true entry and that entry, folded
//   jump      a table entry: the stream has the number of blocks by which it leads further on, folded
//
// Folded numbers are 0, 1, 2, 3 for 0, -1, 1, -2. The stream of locals has for each function the number of its groups of locals plus
// one, and the groups; or 0, and the bytes of a function that could not be parsed.

export const magic = [0x6b, 0x73, 0x70, 0x61, 0x63, 0x6b, 0, 1] // "kspack", version 1
export const kind = { end: 0, raw: 1, count: 2, columns: 3, idioms: 4, functions: 5 }
export const hole = { none: 0, number: 1, four: 2, eight: 3, level: 4, resume: 5, return: 6, jump: 7 }
export const header = 13 // bytes of a record before its payload
export const firstFunction = 4096 // Go's number of the function with the index 0

/** checksum returns the 32-bit FNV-1a of bytes, continued from sum. */
export function checksum(bytes, sum = 0x811c9dc5) {
  for (let i = 0; i < bytes.length; i++) sum = Math.imul(sum ^ bytes[i], 0x01000193)
  return sum >>> 0
}

/** unpacking returns a transform from packed bytes to a wasm file. It fails if the file is damaged. */
export function unpacking() {
  const unpacker = new Unpacker()
  return new TransformStream({
    transform: (chunk, out) => {
      for (const bytes of unpacker.take(chunk)) out.enqueue(bytes)
    },
    flush: () => unpacker.close(),
  })
}

export class Unpacker {
  held = new Uint8Array(1 << 20) // received bytes that are not a complete record yet
  length = 0
  at = 0 // position of held in the file
  ended = false
  functions = 0
  idioms = null

  /** close reports the end of the file. It throws if the file is incomplete. */
  close() {
    if (!this.ended || this.length > 0) throw this.damaged(this.length)
  }

  /** take processes the next bytes of a file and yields the unpacked bytes. */
  *take(chunk) {
    this.hold(chunk)
    let at = 0
    if (this.at === 0) {
      if (this.length < magic.length) return
      if (magic.some((byte, i) => byte !== this.held[i])) throw new Error('this is not a packed file, or one of another version')
      at = magic.length
    }
    const view = new DataView(this.held.buffer)
    while (at + header <= this.length) {
      const [length, size, sum] = [1, 5, 9].map((i) => view.getUint32(at + i, true))
      const end = at + header + length
      if (this.ended) throw this.damaged(at)
      if (end > this.length) break
      const payload = this.held.subarray(at + header, end)
      if (checksum(payload, checksum(this.held.subarray(at, at + header - 4))) !== sum) throw this.damaged(at)
      const bytes = this.record(this.held[at], payload, size)
      if (bytes.length !== size) throw this.damaged(at)
      if (size > 0) yield bytes
      at = end
    }
    this.held.copyWithin(0, at, this.length)
    this.length -= at
    this.at += at
  }

  damaged(at) {
    return new Error(`the packed file is damaged or not whole, at byte ${this.at + at}`)
  }

  hold(chunk) {
    if (this.length + chunk.length > this.held.length) {
      const larger = new Uint8Array(2 * (this.length + chunk.length))
      larger.set(this.held.subarray(0, this.length))
      this.held = larger
    }
    this.held.set(chunk, this.length)
    this.length += chunk.length
  }

  record(what, payload, size) {
    switch (what) {
      case kind.raw:
        return payload.slice()
      case kind.count:
        return counted(payload, size)
      case kind.columns:
        return columns(payload, size)
      case kind.functions:
        return this.bodies(payload, size)
      case kind.idioms:
        this.idioms = readIdioms(payload)
        break
      default:
        this.ended = true
    }
    return new Uint8Array(0)
  }

  bodies(payload, size) {
    const writer = new Functions(this.idioms, payload, size, this.functions)
    const bytes = writer.all()
    this.functions = writer.index
    return bytes
  }
}

function counted(payload, size) {
  const source = new Source(payload)
  const out = new Out(size)
  const from = source.number()
  const to = source.number()
  for (let n = from; n < to; n++) out.unsigned(n)
  return out.bytes
}

function columns(payload, size) {
  const source = new Source(payload)
  const wide = source.number()
  const bytes = payload.slice(source.at)
  const view = new DataView(bytes.buffer)
  for (let at = wide; at + 4 <= size; at += 4) view.setUint32(at, view.getUint32(at, true) + view.getUint32(at - wide, true), true)
  return bytes
}

/** readIdioms returns the steps of all symbols in one sequence: those of symbol s are first[s] up to first[s+1]. */
function readIdioms(record) {
  const payload = record.slice() // a copy, because the buffer is reused
  const source = new Source(payload)
  const idioms = { first: [], from: [], to: [], opens: [], hole: [], bytes: payload }
  while (source.at < payload.length) {
    idioms.first.push(idioms.hole.length)
    for (let steps = source.number(); steps > 0; steps--) {
      const length = source.number()
      idioms.from.push(source.at)
      source.at += length
      idioms.to.push(source.at)
      idioms.opens.push(source.folded())
      idioms.hole.push(source.number())
    }
  }
  idioms.first.push(idioms.hole.length)
  return idioms
}

/** Source reads a stream. */
class Source {
  constructor(bytes, at = 0) {
    this.bytes = bytes
    this.at = at
  }

  number() {
    let byte = this.bytes[this.at++]
    if (byte < 128) return byte
    let value = byte & 127
    for (let scale = 128; byte > 127; scale *= 128) {
      byte = this.bytes[this.at++]
      value += (byte & 127) * scale
    }
    return value
  }

  folded() {
    const value = this.number()
    return value % 2 ? -(value + 1) / 2 : value / 2
  }
}

/** Out is the output buffer of a record. */
class Out {
  at = 0
  constructor(size) {
    this.bytes = new Uint8Array(size)
  }

  unsigned(value) {
    for (; value > 127; value = Math.floor(value / 128)) this.bytes[this.at++] = (value & 127) | 128
    this.bytes[this.at++] = value
  }

  /** signed writes a non-negative number in the signed encoding. */
  signed(value) {
    for (; value > 63; value = Math.floor(value / 128)) this.bytes[this.at++] = (value & 127) | 128
    this.bytes[this.at++] = value
  }

  copy(bytes, from, to) {
    for (let i = from; i < to; i++) this.bytes[this.at++] = bytes[i]
  }
}

const room = 3 // bytes for the size of a function, which is known only after the function has been written

/** Functions writes the functions of one record. */
class Functions {
  depth = 0 // depth of blocks
  below = 0 // depth of the innermost block of the table
  table = [] // the block that each entry leads to
  entry = [] // the first entry of each block

  constructor(idioms, payload, size, index) {
    this.idioms = idioms
    this.index = index // index of the next function
    this.out = new Out(size + room)
    const source = new Source(payload)
    this.count = source.number()
    const lengths = Array.from({ length: idioms.hole.length + 2 }, () => source.number())
    const streams = lengths.map((length) => {
      source.at += length
      return new Source(payload, source.at - length)
    })
    this.locals = streams[0]
    this.symbols = streams[1]
    this.streams = streams.slice(2)
  }

  all() {
    for (const last = this.index + this.count; this.index < last; this.index++) {
      const groups = this.locals.number()
      if (groups === 0) this.asItIs()
      else this.body(groups - 1)
    }
    return this.out.bytes.subarray(0, this.out.at)
  }

  asItIs() {
    const { locals, out } = this
    const length = locals.number()
    out.copy(locals.bytes, locals.at, (locals.at += length))
  }

  /** body writes a function after reserved bytes for its size, and then moves it next to the size. */
  body(groups) {
    const { locals, out } = this
    const begin = out.at
    out.at += room
    out.unsigned(groups)
    for (; groups > 0; groups--) {
      out.unsigned(locals.number())
      out.bytes[out.at++] = locals.bytes[locals.at++]
    }
    this.depth = 1
    this.entry.length = 0
    while (this.depth > 0) this.symbol(this.symbols.bytes[this.symbols.at++])
    const end = out.at
    out.at = begin
    out.unsigned(end - begin - room)
    out.bytes.copyWithin(out.at, begin + room, end)
    out.at += end - begin - room
  }

  symbol(symbol) {
    const { first, from, to, opens, hole: holes, bytes } = this.idioms
    for (let step = first[symbol]; step < first[symbol + 1]; step++) {
      this.out.copy(bytes, from[step], to[step])
      this.depth += opens[step]
      if (holes[step] !== hole.none) this.fill(holes[step], this.streams[step])
    }
  }

  fill(what, source) {
    const { out } = this
    switch (what) {
      case hole.number: {
        let byte
        do out.bytes[out.at++] = byte = source.bytes[source.at++]
        while (byte > 127)
        break
      }
      case hole.four:
        return out.copy(source.bytes, source.at, (source.at += 4))
      case hole.eight:
        return out.copy(source.bytes, source.at, (source.at += 8))
      case hole.level:
        return out.unsigned(this.depth - source.number())
      case hole.resume:
        return this.resume(source)
      case hole.return:
        return out.signed((this.index + firstFunction) * 65536 + this.entry[this.below - this.depth] + source.folded())
      case hole.jump:
        return out.signed(this.entry[this.below - this.depth + source.folded()])
    }
  }

  resume(source) {
    const { out, entry } = this
    const last = source.number()
    const table = []
    for (let block = 0; block <= last; block++) {
      out.bytes[out.at++] = 0x02
      out.bytes[out.at++] = 0x40
      entry[block] = table.length
      for (let times = source.number(); times > 0; times--) table.push(block)
    }
    this.depth += last + 1
    this.below = this.depth
    out.copy([0x20, 0, 0x0e], 0, 3)
    out.unsigned(table.length - 1)
    for (const block of table) out.unsigned(block)
  }
}
