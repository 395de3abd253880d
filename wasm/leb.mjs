// The numbers of a wasm file: LEB128, seven bits in a byte, the lowest first. Values up to 2^53 are read exactly.

// unsigned reads a number, and where it ends.
export function unsigned(bytes, at) {
  for (let value = 0, scale = 1; ; scale *= 128) {
    const byte = bytes[at++]
    if (byte === undefined) throw new RangeError('leb: the file ends within a number')
    value += (byte & 127) * scale
    if (byte < 128) return [value, at]
  }
}

// signed reads a number that may be negative, and where it ends.
export function signed(bytes, at) {
  for (let value = 0, scale = 1; ; ) {
    const byte = bytes[at++]
    if (byte === undefined) throw new RangeError('leb: the file ends within a number')
    value += (byte & 127) * scale
    scale *= 128
    if (byte < 128) return [byte & 64 ? value - scale : value, at]
  }
}

export function unsignedOf(value) {
  const out = []
  for (; value > 127; value = Math.floor(value / 128)) out.push((value & 127) | 128)
  return Buffer.from([...out, value])
}

// signedOf writes a number that is not negative where a signed one is read.
export function signedOf(value) {
  const out = []
  for (; value > 63; value = Math.floor(value / 128)) out.push((value & 127) | 128)
  return Buffer.from([...out, value])
}

// zigzag makes numbers that are near 0 small ones: 0, -1, 1, -2 are 0, 1, 2, 3.
export const zigzag = (value) => (value < 0 ? -2 * value - 1 : 2 * value)
