// The number encoding of wasm files: LEB128, seven bits per byte, the lowest first. Values up to 2^53 are exact.

// unsigned parses a number and returns it with the position after it.
export function unsigned(bytes, at) {
  for (let value = 0, scale = 1; ; scale *= 128) {
    const byte = bytes[at++]
    if (byte === undefined) throw new RangeError('leb: the file ends within a number')
    value += (byte & 127) * scale
    if (byte < 128) return [value, at]
  }
}

// signed parses a signed number and returns it with the position after it.
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

// signedOf encodes a non-negative number as a signed one.
export function signedOf(value) {
  const out = []
  for (; value > 63; value = Math.floor(value / 128)) out.push((value & 127) | 128)
  return Buffer.from([...out, value])
}

// zigzag maps numbers near 0 to small ones: 0, -1, 1, -2 become 0, 1, 2, 3.
export const zigzag = (value) => (value < 0 ? -2 * value - 1 : 2 * value)
