// Parses the instructions of a function, for pack.mjs. Each instruction has a shape, which is its bytes and the kind of its hole, and the
// operand for that hole (unpack.mjs lists the kinds).
import { signed, signedOf, unsigned, unsignedOf, zigzag } from './leb.mjs'
import { firstFunction, hole } from './unpack.mjs'

const op = { block: 0x02, loop: 0x03, if: 0x04, end: 0x0b, br: 0x0c, brIf: 0x0d, call: 0x10, callIndirect: 0x11, set: 0x21, i32: 0x41, i64: 0x42, more: 0xfc }
const toTable = Buffer.from([0x20, 0, 0x0e]) // local.get 0, br_table
const nothing = Buffer.alloc(0)
const natural = [2, 3, 2, 3, 0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 2, 3, 2, 3, 0, 1, 0, 1, 2] // log2 of the natural alignments, from i32.load (0x28) to i64.store32

/** Unsupported is the error for code that cannot be packed by instructions. The function is then copied. */
export class Unsupported extends Error {}

const most = 200 // shapes, so that enough symbols are left for idioms

/** Shapes assigns numbers to shapes. opens is the number of blocks that the bytes of a shape open less the number that they close. */
export class Shapes {
  list = []
  numbers = new Map()

  number(bytes, what, opens = 0) {
    const key = bytes.reduce((key, byte) => key * 257 + byte + 1, what) // unique, because a shape has at most 4 bytes
    let number = this.numbers.get(key)
    if (number === undefined) {
      if (this.list.length === most) throw new Unsupported('an instruction of many kinds')
      number = this.list.length
      this.numbers.set(key, number)
      this.list.push({ bytes: Uint8Array.from(bytes), what, opens })
    }
    return number
  }
}

/** Body parses the instructions of the function with an index, and calls each(shape, operand) for each. */
export class Body {
  depth = 1 // depth of blocks
  below = 0 // depth of the innermost block of the table
  table = [] // the block that each entry leads to
  entry = [] // the first entry of each block

  constructor(bytes, at, end, index, shapes) {
    Object.assign(this, { bytes, at, end, index, shapes })
  }

  /** locals parses the declarations of local variables and returns their encoding in the stream of locals. */
  locals() {
    const groups = this.unsigned()
    const parts = [unsignedOf(groups + 1)]
    for (let n = groups; n > 0; n--) parts.push(unsignedOf(this.unsigned()), Buffer.from([this.byte()]))
    return Buffer.concat(parts)
  }

  instructions(each) {
    while (this.at < this.end) {
      each(...(this.resume() ?? this.instruction()))
      if (this.depth < 1 !== (this.at >= this.end)) throw new Unsupported('a function ends elsewhere than its last block')
    }
    if (this.at > this.end) throw new Unsupported('a function ends within an instruction')
  }

  instruction() {
    const code = this.bytes[this.at++]
    switch (code) {
      case op.block:
      case op.loop:
      case op.if:
        return this.plain([code, this.byte()], 1)
      case op.end:
        return this.plain([code], -1)
      case op.br:
      case op.brIf:
        return this.filled([code], hole.level, this.depth - this.unsigned())
      case op.i32:
        return this.jump(code) ?? this.copied([code])
      case op.i64:
        return this.address(code) ?? this.copied([code])
      case 0x43:
      case 0x44:
        return this.float(code)
      case 0x3f:
      case 0x40:
        return this.plain([code, this.byte()])
      case op.more:
        return this.more(code)
    }
    if (code >= 0x28 && code < 0x28 + natural.length) return this.memory(code)
    if ((code >= 0x20 && code <= 0x26) || code === op.call) return this.copied([code])
    if (code === op.callIndirect) return this.indirect(code)
    if (code < 0x02 || code === 0x05 || code === 0x0f || code === 0x1a || code === 0x1b || (code >= 0x45 && code <= 0xc4)) return this.plain([code])
    throw new Unsupported(`the instruction ${code}`)
  }

  plain(bytes, opens = 0) {
    this.depth += opens
    return [this.shapes.number(bytes, hole.none, opens), nothing]
  }

  filled(bytes, what, value) {
    if (value < 0) throw new Unsupported('a branch out of the function')
    return [this.shapes.number(bytes, what), unsignedOf(value)]
  }

  copied(bytes) {
    const begin = this.at
    while (this.bytes[this.at++] > 127);
    return [this.shapes.number(bytes, hole.number), this.bytes.subarray(begin, this.at)]
  }

  float(code) {
    const begin = this.at
    this.at += code === 0x43 ? 4 : 8
    return [this.shapes.number([code], code === 0x43 ? hole.four : hole.eight), this.bytes.subarray(begin, this.at)]
  }

  memory(code) {
    if (this.byte() !== natural[code - 0x28]) throw new Unsupported('another alignment than the natural one')
    return this.copied([code, natural[code - 0x28]])
  }

  indirect(code) {
    const type = this.byte()
    if (type > 127 || this.byte() !== 0) throw new Unsupported('an indirect call through another table')
    return this.plain([code, type, 0])
  }

  more(code) {
    const what = this.byte()
    if (what < 8) return this.plain([code, what])
    if (what === 10) return this.plain([code, what, this.byte(), this.byte()])
    if (what === 11) return this.plain([code, what, this.byte()])
    throw new Unsupported(`the instruction ${code} ${what}`)
  }

  /** jump parses the number of a table entry that Go stores in local 0 before it jumps to the head of the function. */
  jump(code) {
    const [value, end] = signed(this.bytes, this.at)
    const block = this.table[value]
    if (this.bytes[end] !== op.set || this.bytes[end + 1] !== 0 || block === undefined || this.entry[block] !== value) return
    if (signedOf(value).length !== end - this.at) return
    this.at = end
    return [this.shapes.number([code], hole.jump), unsignedOf(zigzag(block - (this.below - this.depth)))]
  }

  /** address parses a return address. */
  address(code) {
    const [value, end] = signed(this.bytes, this.at)
    const here = value - (this.index + firstFunction) * 65536
    const entry = this.entry[this.below - this.depth]
    if (entry === undefined || here < 0 || here > 65535 || signedOf(value).length !== end - this.at) return
    this.at = end
    return [this.shapes.number([code], hole.return), unsignedOf(zigzag(here - entry))]
  }

  /** resume parses Go's switch at the head of a function, if there is one. */
  resume() {
    const begin = this.at
    let blocks = 0
    for (; this.bytes[this.at] === op.block && this.bytes[this.at + 1] === 0x40; this.at += 2) blocks++
    const times = this.bytes.subarray(this.at, this.at + 3).equals(toTable) && this.targets()
    if (!times || times.length !== blocks) {
      this.at = begin // not such a switch, or there are other blocks before it
      return
    }
    this.depth += blocks
    this.below = this.depth
    this.table = times.flatMap((n, block) => new Array(n).fill(block))
    this.entry = times.map((_, block) => this.table.indexOf(block))
    return [this.shapes.number([], hole.resume), Buffer.concat([blocks - 1, ...times].map(unsignedOf))]
  }

  /** targets returns the number of table entries for each block, or undefined if the entries are not in the order of the blocks. */
  targets() {
    this.at += toTable.length
    const times = []
    for (let more = this.unsigned() + 1; more > 0; more--) {
      const block = this.unsigned()
      if (block === times.length) times.push(0)
      if (block !== times.length - 1) return
      times[block]++
    }
    return times
  }

  byte() {
    if (this.at >= this.end) throw new Unsupported('a function ends within an instruction')
    return this.bytes[this.at++]
  }

  /** unsigned parses a number, which must be encoded in the fewest bytes. */
  unsigned() {
    const [value, end] = unsigned(this.bytes, this.at)
    if (unsignedOf(value).length !== end - this.at) throw new Unsupported('a number of more bytes than it needs')
    this.at = end
    return value
  }
}
