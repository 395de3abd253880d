// Seeded random input for the parsers of the page: they return a result or an error, and never hang.
import { deflateRawSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { locate } from './editor/locate'
import { filesOf } from './state/manifests'
import { runnable } from './lessons/runnable'
import { pack, unpack } from './share/codec'

const rounds = 100
const alphabet = 'abc:-. []{}"\'\n  #0123/\\-f=ü|'

// noise returns a generator of texts. The same seed gives the same texts.
function noise(seed: number): () => string {
  let state = seed
  const next = (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  return () => Array.from({ length: next(60) }, () => alphabet[next(alphabet.length)]).join('')
}

test('locate returns a line of the manifest, or 0', () => {
  const text = noise(1)
  for (let i = 0; i < rounds; i++) {
    const manifest = text()
    const line = locate(manifest, text())
    expect(line).toBeGreaterThanOrEqual(0)
    expect(line).toBeLessThanOrEqual(manifest.split('\n').length)
  }
})

test('unpack returns a world that can be packed again, or an error', async () => {
  const text = noise(2)
  for (let i = 0; i < rounds; i++) {
    const inner = i % 2 ? text() : JSON.stringify({ seed: text(), log: [{ line: text(), files: { [text()]: text() } }] })
    const link = i % 3 ? `v1.abc.${deflateRawSync(Buffer.from(inner)).toString('base64url')}` : `v1.${text()}`
    const world = await unpack(link).catch((error: unknown) => {
      expect(error).toBeInstanceOf(Error)
      return null
    })
    if (world) expect((await unpack(await pack(world.world, 'abc'))).world).toEqual(world.world)
  }
})

test('any line can be parsed', () => {
  const text = noise(3)
  for (let i = 0; i < rounds; i++) {
    expect(typeof runnable(text())).toBe('boolean')
    expect(Object.keys(filesOf(`create -f ${text()}`)).length).toBeLessThan(10)
  }
})
