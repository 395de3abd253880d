// Makes a wasm file that Go's linker wrote smaller after compression, and changes nothing that it does:
//
//   - Its memory comes in 100,000 pieces, each with an address, because the linker leaves out each run of eight zeros. Zeros
//     compress to nothing and addresses do not: it comes in a few pieces.
//   - Each function says for each of its instructions from which line of which file it is. Only the text of a traceback asks
//     for that: it names functions and says "?" for their files.
//
// What is kept of the runtime's tables (runtime/symtab.go: pcHeader and _func, of Go 1.20 and later) is what the garbage
// collector and growing stacks need. A file in which the tables are not found is only put together.

const magic = [0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8] // of pcHeader: Go 1.20, instructions of 1 byte, pointers of 8
const gap = 1024 // so many zeros between two pieces are written rather than another address
const data = 11 // the section of what is in memory at the start

// lean returns the bytes of a leaner file.
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

// dataSection returns the contents of the data section: active segments of memory 0, as the linker writes them.
function dataSection(bytes, at) {
  const pieces = segments(bytes, at)
  const top = pieces.reduce((most, p) => Math.max(most, p.address + p.bytes.length), 0)
  const memory = Buffer.alloc(top)
  for (const p of pieces) p.bytes.copy(memory, p.address)
  dropLines(memory)
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

// segments returns the pieces of a data section, by address.
function segments(bytes, at) {
  let [count, next] = unsigned(bytes, at)
  const pieces = []
  for (; count > 0; count--) {
    if (bytes[next] !== 0 || bytes[next + 1] !== 0x41) throw new Error('lean: a segment of another kind than Go writes')
    const [address, end] = unsigned(bytes, next + 2) // it is never negative
    const [size, begin] = unsigned(bytes, end + 1)
    pieces.push({ address, bytes: bytes.subarray(begin, begin + size) })
    next = begin + size
  }
  return pieces.sort((a, b) => a.address - b.address)
}

// dropLines empties the tables of files and lines of all functions.
function dropLines(memory) {
  const header = memory.indexOf(Buffer.from(magic))
  if (header < 0) return
  const word = (n) => Number(memory.readBigUInt64LE(header + 8 + 8 * n))
  const [functions, , , , units, , tables, infos] = [0, 1, 2, 3, 4, 5, 6, 7].map(word)
  const table = { begin: header + tables, end: header + infos, needed: new Uint8Array(infos - tables) }
  const dropped = new Set()
  for (let n = 0; n < functions; n++) {
    const at = header + infos + memory.readUInt32LE(header + infos + 8 * n + 4)
    for (const field of [20, 24]) dropped.add(memory.readUInt32LE(at + field)) // pcfile, pcln
    memory.fill(0, at + 20, at + 28)
    memory.fill(0, at + 36, at + 40) // startLine
    const needed = [memory.readUInt32LE(at + 16)] // pcsp, and then pcdata
    for (let i = memory.readUInt32LE(at + 28); i > 0; i--) needed.push(memory.readUInt32LE(at + 40 + 4 * i))
    for (const offset of needed) if (offset > 0 && offset < table.needed.length) table.needed.fill(1, offset, tableEnd(memory, table, offset))
  }
  for (const offset of dropped) {
    const end = offset > 0 ? tableEnd(memory, table, offset) : 0
    for (let i = offset; i < end; i++) if (!table.needed[i]) memory[table.begin + i] = 0
  }
  memory.fill(0, header + units, header + tables) // which files there are
}

// tableEnd returns where a table ends: pairs of numbers, of which the first, but not in the first pair, is 0 at the end.
function tableEnd(memory, table, offset) {
  for (let at = table.begin + offset, first = true; ; first = false) {
    const [value, next] = unsigned(memory, at)
    if (next > table.end) throw new Error('lean: a table of the runtime has no end: has its form changed?')
    if (value === 0 && !first) return next - table.begin
    at = unsigned(memory, next)[1]
  }
}

const section = (id, contents) => Buffer.concat([Buffer.from([id]), unsignedOf(contents.length), contents])

// unsigned reads a number in LEB128, and where it ends.
function unsigned(bytes, at) {
  for (let value = 0, scale = 1; ; scale *= 128) {
    const byte = bytes[at++]
    value += (byte & 127) * scale
    if (byte < 128) return [value, at]
  }
}

function unsignedOf(value) {
  const out = []
  for (; value > 127; value = Math.floor(value / 128)) out.push((value & 127) | 128)
  return Buffer.from([...out, value])
}

// signedOf writes a number that is not negative where a signed one is read.
function signedOf(value) {
  const out = []
  for (; value > 63; value = Math.floor(value / 128)) out.push((value & 127) | 128)
  return Buffer.from([...out, value])
}
