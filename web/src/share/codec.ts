// A world as a link: #v1.<engine>.<base64url of deflate-raw of JSON>. It always opens with the same bytes, because a world is a
// function of its engine, its seed and its log. A link is untrusted input: its size is checked while it is unpacked and its shape before it
// is used, and its texts are only rendered as text nodes.
import type { Boot, Op, Story } from '../engine/protocol'
import { text } from '../text'

export interface Shared extends Boot {
  lesson?: string
  /** course is validated by teach/course.ts. */
  course?: unknown
}

const faults = text.share.faults
export const mostBytes = 1_000_000
export const mostOps = 12_000

/** pack returns the part of a link after the #. */
export async function pack(world: Shared, engine: string): Promise<string> {
  const json = new TextEncoder().encode(JSON.stringify(world))
  const packed = await collect(new Blob([json]).stream().pipeThrough(new CompressionStream('deflate-raw')), Infinity)
  return `v1.${engine}.${toBase64(packed)}`
}

/** unpack decodes the result of pack. It throws an Error that describes the problem. */
export async function unpack(hash: string): Promise<{ world: Shared; engine: string }> {
  const [version, engine = '', data = ''] = hash.replace(/^#/, '').split('.')
  if (version !== 'v1') throw new Error(faults.version(version?.slice(0, 8) ?? ''))
  if (!/^[\w-]{1,64}$/.test(engine) || !/^[\w-]+$/.test(data)) throw new Error(faults.damaged)
  const bytes = await collect(
    new Blob([fromBase64(data)]).stream().pipeThrough(new DecompressionStream('deflate-raw')), mostBytes,
  )
  return { world: checked(JSON.parse(new TextDecoder().decode(bytes))), engine }
}

async function collect(stream: ReadableStream<Uint8Array>, limit: number): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = []
  let size = 0
  const reader = stream.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    size += value.byteLength
    if (size > limit) {
      await reader.cancel()
      throw new Error(faults.large(limit))
    }
    parts.push(value)
  }
  const all = new Uint8Array(size)
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.byteLength
  }
  return all
}

function toBase64(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(binary, c => c.charCodeAt(0))
}

function checked(value: unknown): Shared {
  if (typeof value !== 'object' || value === null) throw new Error(faults.world)
  const { seed, replicas, scenario, lesson, own, log, cursor, answers, controllers, nodes, whole, classes, story, course } = value as Record<string, unknown>
  const world: Shared = course ? { course } : {}
  if (typeof seed === 'string' && /^\d{1,20}$/.test(seed)) world.seed = seed
  if (typeof scenario === 'string') world.scenario = scenario
  if (typeof lesson === 'string' && /^[\w-]{1,64}$/.test(lesson)) world.lesson = lesson
  if (typeof own === 'string') world.own = own
  if (Array.isArray(replicas)) world.replicas = replicas.slice(0, 9) as NonNullable<Boot['replicas']>
  if (typeof story === 'object' && story !== null) world.story = checkedStory(story)
  if (whole === true) world.whole = true
  if (classes === true) world.classes = true
  if (Array.isArray(controllers)) world.controllers = controllers.filter(c => typeof c === 'string').slice(0, 100)
  if (typeof nodes === 'number' && Number.isInteger(nodes) && nodes > 0) world.nodes = nodes
  if (typeof cursor === 'number' && Number.isInteger(cursor) && cursor >= 0) world.cursor = cursor
  if (log !== undefined) world.log = checkedLog(log)
  if (typeof answers === 'object' && answers !== null) world.answers = checkedAnswers(answers)
  return world
}

const longest = 2000 // characters in a text of a story

function checkedStory(story: object): Story {
  const { title, about, lesson, captions } = story as Record<string, unknown>
  const words = (value: unknown) => (typeof value === 'string' ? value.slice(0, longest) : '')
  return {
    title: words(title), about: words(about), captions: Array.isArray(captions) ? captions.slice(0, mostOps).map(words) : [],
    lesson: /^[\w-]{1,64}$/.test(words(lesson)) ? words(lesson) : '',
  }
}

// checkedAnswers returns the well-formed answers. The engine ignores answers to steps without a question.
function checkedAnswers(answers: object): Record<string, number> {
  const good = Object.entries(answers).filter(([step, answer]) => /^\d{1,3}$/.test(step) && Number.isInteger(answer))
  return Object.fromEntries(good.slice(0, 100)) as Record<string, number>
}

function checkedLog(log: unknown): Op[] {
  if (!Array.isArray(log)) throw new Error(faults.log)
  if (log.length > mostOps) throw new Error(faults.long(mostOps))
  return log.map((op: unknown, i) => {
    const { line, files } = (op ?? {}) as { line?: unknown; files?: unknown }
    if (typeof line !== 'string') throw new Error(faults.line(i + 1))
    if (files === undefined) return { line }
    const named = Object.entries(files as object).map(([name, content]) => [name, String(content)])
    return { line, files: Object.fromEntries(named) as Record<string, string> }
  })
}
