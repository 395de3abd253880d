// The changes of a commit, field by field, and whether it removed a value that its writer had never read.
import type { Frame } from '../engine/protocol'

export interface Change {
  path: string
  from: string | undefined
  to: string | undefined
}

// always matches fields that change with every write and are therefore not listed.
const always = /^metadata\.(resourceVersion|managedFields|generation|uid|creationTimestamp)\b/

/** changes returns the fields that differ between two versions of an object. A value is undefined if the field is missing. */
export function changes(before: unknown, after: unknown): Change[] {
  const [old, now] = [fields(before), fields(after)]
  return [...new Set([...old.keys(), ...now.keys()])]
    .filter(path => !always.test(path) && old.get(path) !== now.get(path))
    .map(path => ({ path, from: old.get(path), to: now.get(path) }))
}

// fields returns the leaves of an object by path.
function fields(value: unknown, path = '', into = new Map<string, string>()): Map<string, string> {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) {
    if (path) into.set(path, typeof value === 'string' ? value : JSON.stringify(value))
    return into
  }
  for (const [key, inner] of Object.entries(value)) fields(inner, Array.isArray(value) ? `${path}[${key}]` : path ? `${path}.${key}` : key, into)
  return into
}

/** writerOf returns the client whose request caused a commit, or '' if a controller made it. */
export function writerOf(frames: readonly Frame[], commit: Frame | undefined): string {
  const request = frames[(commit?.cause ?? 0) - 1]
  return request?.kind === 'http.req' ? request.lane : ''
}

/** unread returns the values that a commit removed although its writer had not read the version with them. before is the object's
 * previous commit, which made the changes earlier. */
export function unread(frames: readonly Frame[], commit: Frame, before: Frame, earlier: readonly Change[], now: readonly Change[]): Change[] {
  if (!overwrites(frames, commit, before)) return []
  return now.filter(({ path, from }) => earlier.some(one => one.path === path && one.to === from && from !== undefined))
}

/** overwrites reports whether a commit replaces a version that another client wrote and that its writer has not read. */
export function overwrites(frames: readonly Frame[], commit: Frame, before: Frame): boolean {
  const [writer, other] = [writerOf(frames, commit), writerOf(frames, before)]
  if (!writer || !other || writer === other) return false
  const resource = commit.ref?.split(/[ .]/)[0] ?? ''
  const asked = commit.cause ?? 0
  return !frames.slice(before.n, asked - 1).some(({ kind, lane, cause, code }) =>
    (kind === 'http.res' && lane === writer && (code ?? 0) < 400 && frames[(cause ?? 0) - 1]?.text.includes(`/${resource}`)))
}
