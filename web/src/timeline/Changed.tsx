// Changed is the part of a card that compares versions: what a commit changed in its object, which values of another client it removed, and
// on which version a refused write was based.
import { useEffect, useState } from 'preact/hooks'
import type { Exchange, Frame } from '../engine/protocol'
import { frames, head, query, ready } from '../state/session'
import { text } from '../text'
import { changes, unread, writerOf, type Change } from './changes'

const most = 12 // fields that are listed
const words = text.changed

export function Changed({ frame, exchange }: { frame: Frame; exchange?: Exchange | undefined }) {
  return exchange ? <Based frame={frame} exchange={exchange} /> : <Fields frame={frame} />
}

// Based shows the version that a refused write was based on, and the version that the object had.
function Based({ frame, exchange }: { frame: Frame; exchange: Exchange }) {
  const base = basedOn(exchange)
  const now = frames.value.slice(0, frame.n).findLast(({ kind, ref }) => kind === 'store.commit' && isAbout(ref ?? '', exchange.req.path))?.rv
  return base && now ? <p class="based bad">{words.based(base, now)}</p> : null
}

function Fields({ frame }: { frame: Frame }) {
  const [comparison, setComparison] = useState<{ now: Change[]; lost: Change[] } | null>(null)
  const { n, branch } = head.value
  useEffect(() => {
    let current = true
    setComparison(null)
    if (ready.value) void compare(frame).then(answer => { if (current) setComparison(answer) }, () => {}) // the revisions are compacted and cannot be compared
    return () => { current = false }
  }, [frame, n, branch, ready.value])
  if (!comparison) return null
  const owner = comparison.lost.length > 0 ? writerOf(frames.value, commitBefore(frame)).replace('client/', '') : ''
  return (
    <>
      <ul class="changed plain mono">
        {comparison.now.slice(0, most).map(({ path, from, to }) => (
          <li key={path}><b>{path}</b>: {from !== undefined && <del>{from}</del>}{from !== undefined && to !== undefined && ' → '}{to !== undefined && <ins>{to}</ins>}</li>
        ))}
      </ul>
      {comparison.now.length > most && <p class="hint">{words.more(comparison.now.length - most)}</p>}
      {comparison.lost.map(({ path, from }) => <p key={path} class="bad lost" role="note"><b>{words.lost}</b> {words.unread(path, from ?? '', owner)}</p>)}
    </>
  )
}

/** commitBefore returns the previous commit of the same object, or undefined. */
export function commitBefore(frame: Frame): Frame | undefined {
  return frames.value.slice(0, frame.n - 1).findLast(({ kind, ref }) => kind === 'store.commit' && ref === frame.ref)
}

/** compare returns the changes of a commit, and which of them removed unread values. It queries the object at the commit's revision and at
 * the two before. */
export async function compare(frame: Frame): Promise<{ now: Change[]; lost: Change[] } | null> {
  const [resource = '', key = ''] = (frame.ref ?? '').split(' ')
  const slash = key.indexOf('/')
  const of = { resource, ns: slash < 0 ? '' : key.slice(0, slash), name: key.slice(slash + 1), format: 'json' }
  const at = async (one: Frame | undefined) => (one ? JSON.parse((await query<{ text: string }>('object', { ...of, at: one.rv })).text) as object : {})
  const before = commitBefore(frame)
  if (!before || frame.verb !== 'MODIFIED') return null
  const [then, now] = await Promise.all([at(before), at(frame)])
  const changed = changes(then, now)
  if (before.verb !== 'MODIFIED') return { now: changed, lost: [] }
  const first = await at(commitBefore(before))
  return { now: changed, lost: unread(frames.value, frame, before, changes(first, then), changed) }
}

// isAbout reports whether a request's path refers to an object: ref "configmaps default/a" and /api/v1/namespaces/default/configmaps/a.
function isAbout(ref: string, path: string): boolean {
  const [resource = '', key = ''] = ref.split(' ')
  return path.split('?')[0]?.includes(`/${resource.split('.')[0]}/${key.split('/').at(-1)}`) ?? false
}

/** basedOn returns the revision that a refused write was based on, from its body, or ''. */
export function basedOn({ req, res }: Exchange): string {
  return res?.code === 409 ? /"?resourceVersion"?:\s*"?(\d+)/.exec(req.body)?.[1] ?? '' : ''
}
