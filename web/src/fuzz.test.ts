// Seeded noise for every parser of the page: whatever comes in, they answer or refuse, and never hang or break.
import { deflateRawSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { locate } from './editor/locate'
import { filesOf } from './state/manifests'
import { runnable } from './lessons/runnable'
import { pack, unpack } from './share/codec'

const rounds = 100
const alphabet = 'abc:-. []{}"\'\n  #0123/\\-f=ü|'

// noise is a generator of texts: the same seed makes the same texts.
function noise(seed: number): () => string {
  let state = seed
  const next = (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  return () => Array.from({ length: next(60) }, () => alphabet[next(alphabet.length)]).join('')
}

test('locate answers with a line of the manifest, or 0', () => {
  const text = noise(1)
  for (let i = 0; i < rounds; i++) {
    const manifest = text()
    const line = locate(manifest, text())
    expect(line).toBeGreaterThanOrEqual(0)
    expect(line).toBeLessThanOrEqual(manifest.split('\n').length)
  }
})

test('unpack gives a world that packs again, or says why not', async () => {
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

test('lines are read without harm', () => {
  const text = noise(3)
  for (let i = 0; i < rounds; i++) {
    expect(typeof runnable(text())).toBe('boolean')
    expect(Object.keys(filesOf(`create -f ${text()}`)).length).toBeLessThan(10)
  }
})
