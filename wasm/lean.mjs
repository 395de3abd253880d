// Rewrites a wasm file of Go's linker so that it compresses better. The program's behaviour does not change:
//
//   - The initial memory consists of 100,000 segments, each with an address, because the linker omits each run of eight zeros.
//     Zeros compress well and addresses do not, so the segments are merged into a few.
//   - Each function has tables with its name, its arguments, and for each instruction the file, the line, and whether a signal
//     may interrupt it. Only the text of a traceback needs the first three, and there are no signals. Without them a traceback
//     shows "?" for functions outside the runtime.
//
// It keeps the parts of the runtime's tables (runtime/symtab.go: pcHeader and _func, of Go 1.20 and later) that the garbage collector
// and stack growth need, and the names of the runtime's own functions, which the runtime looks up. If the tables are not found, only
// the segments are merged.

import { signedOf, unsigned, unsignedOf } from './leb.mjs'

const magic = [0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8] // pcHeader of Go 1.20: instructions of 1 byte, pointers of 8
const gap = 1024 // up to this number of zeros between two segments is written instead of a new address
const data = 11 // the id of the data section

// lean returns the rewritten file.
export function lean(bytes) {
  const out = [bytes.subarray(0, 8)]
  for (let at = 8; at < bytes.length; ) {
    const [size, begin] = unsigned(bytes, at + 1)
    const end = begin + size
    if (bytes[at] === data) out.push(section(data, dataSection(bytes, begin)))
    else out.push(bytes.subarray(at, end))
    at = end
  }
  return Buffer.concat(out)
}

// dataSection returns the contents of the data section: active segments of memory 0, the form that the linker writes.
function dataSection(bytes, at) {
  const pieces = segments(bytes, at)
  const top = pieces.reduce((most, p) => Math.max(most, p.address + p.bytes.length), 0)
  const memory = Buffer.alloc(top)
  for (const p of pieces) p.bytes.copy(memory, p.address)
  dropNames(memory)
  const joined = [] // [begin, end)
  for (const { address, bytes } of pieces) {
    const last = joined.at(-1)
    if (last && address - last[1] <= gap) last[1] = address + bytes.length
    else joined.push([address, address + bytes.length])
  }
  const parts = joined.map(([begin, end]) =>
    Buffer.concat([Buffer.from([0, 0x41]), signedOf(begin), Buffer.from([0x0b]), unsignedOf(end - begin), memory.subarray(begin, end)]),
  )
  return Buffer.concat([unsignedOf(parts.length), ...parts])
}

// segments returns the segments of a data section, sorted by address.
function segments(bytes, at) {
  let [count, next] = unsigned(bytes, at)
  const pieces = []
  for (; count > 0; count--) {
    if (bytes[next] !== 0 || bytes[next + 1] !== 0x41) throw new Error('lean: an unknown kind of segment')
    const [address, end] = unsigned(bytes, next + 2) // never negative
    const [size, begin] = unsigned(bytes, end + 1)
    pieces.push({ address, bytes: bytes.subarray(begin, begin + size) })
    next = begin + size
  }
  return pieces.sort((a, b) => a.address - b.address)
}

// field has the offsets of the fields of _func in bytes.
const field = { name: 4, sp: 16, file: 20, line: 24, pcdata: 28, unit: 32, startLine: 36, funcdata: 43, end: 44 }
// removed lists the tables to remove by their numbers in internal/abi/symtab.go: UnsafePoint and ArgLive, and ArgInfo and ArgLiveInfo.
const removed = { pcdata: [0, 3], funcdata: [5, 6] }
const nothing = 0xffffffff // in funcdata; pcdata uses 0

// dropNames removes the tables that only tracebacks and signals need.
function dropNames(memory) {
  const header = memory.indexOf(Buffer.from(magic))
  if (header < 0) return
  const word = (n) => Number(memory.readBigUInt64LE(header + 8 + 8 * n))
  const count = word(0)
  const [names, tables, functions] = [3, 6, 7].map((n) => header + word(n))
  const kept = new Uint8Array(functions - names) // of the names and the tables after them
  const clear = (at) => memory.writeUInt32LE(0, at)
  const keep = (from, to) => kept.fill(1, from - names, to - names)
  for (let n = 0; n < count; n++) {
    const at = functions + memory.readUInt32LE(functions + 8 * n + 4)
    const name = names + memory.readUInt32LE(at + field.name)
    if (memory.toString('latin1', name, name + 8) === 'runtime.') keep(name, memory.indexOf(0, name))
    else clear(at + field.name)
    for (const f of ['file', 'line', 'unit', 'startLine']) clear(at + field[f])
    const pcdata = memory.readUInt32LE(at + field.pcdata)
    for (const i of removed.pcdata) if (i < pcdata) clear(at + field.end + 4 * i)
    for (const i of removed.funcdata) if (i < memory[at + field.funcdata]) memory.writeUInt32LE(nothing, at + field.end + 4 * (pcdata + i))
    const needed = [at + field.sp]
    for (let i = 0; i < pcdata; i++) needed.push(at + field.end + 4 * i)
    for (const offset of needed.map((a) => memory.readUInt32LE(a)))
      if (offset > 0 && tables + offset < functions) keep(tables + offset, tableEnd(memory, tables + offset, functions))
  }
  for (let i = 0; i < kept.length; i++) if (!kept[i]) memory[names + i] = 0
}

// tableEnd returns the end of a table. A table consists of pairs of numbers and ends with a 0 as the first number of a pair other than the
// first pair.
function tableEnd(memory, begin, limit) {
  for (let at = begin, first = true; ; first = false) {
    const [value, next] = unsigned(memory, at)
    if (next > limit) throw new Error('lean: a table of the runtime has no end: its format may have changed')
    if (value === 0 && !first) return next
    at = unsigned(memory, next)[1]
  }
}

const section = (id, contents) => Buffer.concat([Buffer.from([id]), unsignedOf(contents.length), contents])
