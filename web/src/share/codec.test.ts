import { deflateRawSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { mostBytes, mostOps, pack, unpack, type Shared } from './codec'

const link = (value: unknown) =>
  `#v1.abc.${deflateRawSync(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))).toString('base64url')}`

test('packing and unpacking preserve a world', async () => {
  const world: Shared = {
    seed: '7', lesson: 'first', cursor: 2, controllers: ['*'], nodes: 3, whole: true, classes: true, replicas: [{ version: '1.35', gates: { A: true } }],
    log: [{ line: 'create -f ü.yaml', files: { 'ü.yaml': 'kind: ConfigMap # <script>' } }, { line: 'tick 5m' }],
  }
  expect(await unpack(await pack(world, 'abc123'))).toEqual({ world, engine: 'abc123' })
})

test('a long session is a short link', async () => {
  const log = Array.from({ length: 200 }, (_, i) => ({ line: `create configmap c${i} --as alice` }))
  expect((await pack({ seed: '1', log }, 'abc')).length).toBeLessThan(1500)
})

test('invalid links are refused with a reason', async () => {
  await expect(unpack('#v2.abc.xx')).rejects.toThrow('v1')
  await expect(unpack('#v1.abc.%%')).rejects.toThrow('damaged')
  await expect(unpack(link('{"log":[{"line":1}]}'))).rejects.toThrow('operation 1')
  await expect(unpack(link({ log: Array(mostOps + 1).fill({ line: 'settle' }) }))).rejects.toThrow(String(mostOps))
  await expect(unpack(link(`"${'a'.repeat(mostBytes)}"`))).rejects.toThrow(String(mostBytes))
  await expect(unpack(link('null'))).rejects.toThrow('world')
})

test('unknown and invalid fields of a world are dropped', async () => {
  const { world } = await unpack(link({ seed: '<b>', lesson: '../x', cursor: -1, nodes: -3, controllers: '*', evil: 1, log: [{ line: 'settle', x: 1 }] }))
  expect(world).toEqual({ log: [{ line: 'settle' }] })
})
