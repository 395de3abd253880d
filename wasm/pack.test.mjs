// node --test wasm/pack.test.mjs: unpacking restores the packed bytes, and damaged files are refused.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signedOf, unsignedOf } from './leb.mjs'
import { pack, unpack, wrap } from './pack.mjs'
import { Unpacker } from './unpack.mjs'

const section = (id, ...parts) => {
  const contents = Buffer.concat(parts.map((part) => Buffer.from(part)))
  return Buffer.concat([Buffer.of(id), unsignedOf(contents.length), contents])
}
const list = (items) => [unsignedOf(items.length), ...items]
const sized = (bytes) => Buffer.concat([unsignedOf(bytes.length), bytes])
const wasm = (...sections) => Buffer.concat([Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]), ...sections])

// goBody returns a function in the form that Go writes: a switch to resume at, calls with their return addresses, and a jump.
function goBody(index, calls) {
  const parts = [[1, 1, 0x7f, 0x02, 0x40, 0x03, 0x40]]
  for (let n = 0; n <= calls; n++) parts.push([0x02, 0x40])
  const table = Array.from({ length: calls + 1 }, (_, block) => [block, block]).flat()
  parts.push([0x20, 0, 0x0e], unsignedOf(table.length - 1), ...table.map(unsignedOf), [0x0b])
  for (let n = 1; n <= calls; n++) {
    parts.push([0x20, 1, 0x41, 8, 0x6b, 0x22, 1, 0x24, 0, 0x20, 1, 0x42], signedOf((4096 + index) * 65536 + 2 * n))
    parts.push([0x37, 3, 0, 0x41, 0, 0x10], unsignedOf(300 + ((index * n) % 7)), [0x23, 0, 0x21, 1, 0x0d], unsignedOf(calls - n + 1 + 1))
    if (n === 2) parts.push([0x41], signedOf(2 * n), [0x21, 0, 0x0c], unsignedOf(calls - n + 1))
    parts.push([0x0b])
  }
  return Buffer.concat([...parts, [0, 0x0b, 0x0b, 0x41, 1, 0x0b]].map((part) => Buffer.from(part)))
}

const goFile = (functions) => {
  const bodies = Array.from({ length: functions }, (_, index) => sized(goBody(index, 3 + (index % 9))))
  const table = Array.from({ length: 3000 }, (_, n) => unsignedOf(n))
  const words = new Uint8Array(Uint32Array.from({ length: 40000 }, (_, n) => (n % 2 ? 7 * n : 65536 * n)).buffer)
  const memory = Buffer.concat([Buffer.from([0, 0x41]), signedOf(0x40603), Buffer.of(0x0b), sized(Buffer.from(words))])
  return wasm(section(9, [1, 0, 0x41, 0, 0x0b], ...list(table)), section(10, ...list(bodies)), section(11, ...list([memory])))
}

test('what Go writes becomes the same again, and much smaller than it was', () => {
  const file = goFile(900)
  const packed = pack(file)
  assert.deepEqual(unpack(packed), file)
  const code = file.length - 160000 // the data does not get smaller before compression
  assert.ok(packed.length - 160000 < code / 4, `${packed.length} of ${file.length} bytes`)
})

test('it may come in pieces of any size', () => {
  const file = goFile(40)
  const packed = pack(file)
  for (const piece of [1, 7, 4096]) {
    const unpacker = new Unpacker()
    const parts = []
    for (let at = 0; at < packed.length; at += piece) parts.push(...unpacker.take(packed.subarray(at, at + piece)))
    unpacker.close()
    assert.deepEqual(Buffer.concat(parts), file)
  }
})

// random returns a generator of numbers below n, which are the same in each run.
function random(seed) {
  let state = seed
  return (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * n)
  }
}

// arbitraryBody returns a body of arbitrary contents: instructions with operands, numbers that are longer than necessary, unclosed blocks,
// and bytes that are not instructions.
function arbitraryBody(any, index) {
  const parts = [[0]]
  const pick = [
    () => [any(256)],
    () => [0x02 + any(3), 0x40],
    () => [0x0b],
    () => [0x20 + any(5), any(300) % 256],
    () => [0x41, 0x80 | any(128), any(64)],
    () => [0x42, ...signedOf((4096 + index) * 65536 + any(4))],
    () => [0x41, ...signedOf(any(5)), 0x21, 0],
    () => [0x28 + any(23), any(4), any(128)],
    () => [0x0c + any(2), any(4)],
    () => [0x02, 0x40, 0x02, 0x40, 0x20, 0, 0x0e, 2, 0, any(2), 1],
    () => [0x0e, 1, any(3), any(3)],
    () => [0x10, 0x80 | any(128), 0x80, 0],
    () => [0xfc, any(12), any(2), any(2)],
    () => [0x43 + any(2), ...Array.from({ length: 8 }, () => any(256))],
    () => goBody(index, 1 + any(4)).subarray(0, any(60)),
  ]
  for (let n = any(40); n > 0; n--) parts.push(pick[any(pick.length)]())
  parts.push([0x0b])
  return Buffer.concat(parts.map((part) => Buffer.from(part)))
}

test('any file becomes the same again', () => {
  for (let seed = 1; seed <= 300; seed++) {
    const any = random(seed)
    const bytes = (n) => Buffer.from(Array.from({ length: n }, () => any(256)))
    const form = (bytes) => (any(9) ? sized(bytes) : Buffer.concat([Buffer.of(bytes.length | 128, bytes.length >> 7), bytes]))
    const bodies = Array.from({ length: any(30) }, (_, index) => form(any(2) ? arbitraryBody(any, index) : goBody(index, any(5))))
    const segments = [Buffer.concat([Buffer.from([any(3), 0x41]), signedOf(any(1e6)), Buffer.of(0x0b), sized(bytes(any(900)))])]
    const file = wasm(section(0, bytes(any(30))), section(9, bytes(any(50))), section(10, ...list(bodies)), section(11, ...list(segments)))
    assert.deepEqual(unpack(pack(file)), file, `seed ${seed}`)
    assert.deepEqual(unpack(wrap(file)), file)
  }
})

test('a damaged file is refused, and one that is not whole', () => {
  const packed = pack(goFile(3)).subarray()
  const step = Math.ceil(packed.length / 500)
  for (let at = 0; at < packed.length; at += at < 300 ? 1 : step) {
    const damaged = Buffer.from(packed)
    damaged[at] ^= 1 << (at % 8)
    assert.throws(() => unpack(damaged), /damaged or not whole, at byte \d+|not a packed file/, `bit ${at % 8} of byte ${at}`)
    assert.throws(() => unpack(packed.subarray(0, at)), /damaged or not whole, at byte \d+/, `cut at ${at}`)
  }
  assert.throws(() => unpack(Buffer.concat([packed, Buffer.of(0)])), /damaged or not whole/)
  assert.throws(() => unpack(goFile(1)), /not a packed file/)
})
