// Skew compares one object in the watch caches of two API servers, each in the server's version, side by side.
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { moment } from '../state/player'
import { head, query, ready } from '../state/session'
import { text } from '../text'

interface ServerView {
  replica: number
  version: string
  known: string
  rv?: string
  serves: boolean
}

interface Line {
  op: string
  text: string
}

interface View {
  servers: number
  one: ServerView
  other: ServerView
  lines: Line[]
}

const words = text.objects
const from = signal('1')
const to = signal('2')
const view = signal<View | null>(null)

/** beside arranges the lines of a difference in two columns. A line that only one side has is next to null. */
export function beside(lines: readonly Line[]): [string | null, string | null][] {
  const rows: [string | null, string | null][] = []
  let removed = 0 // rows of the current change whose right side is empty
  for (const { op, text } of lines) {
    if (op === '-') {
      rows.push([text, null])
      removed++
    } else if (op === '+' && removed > 0) {
      (rows[rows.length - removed] as [string | null, string | null])[1] = text
      removed--
    } else {
      rows.push(op === '+' ? [null, text] : [text, text])
      if (op !== '+') removed = 0
    }
  }
  return rows
}

export default function Skew({ of }: { of: { resource: string; ns: string; name: string } }) {
  useEffect(() => {
    if (!ready.value) return
    query<View>('skew', { ...of, from: from.value, to: to.value, ...moment.value })
      .then(answer => { view.value = answer }, () => { view.value = null })
  }, [of, from.value, to.value, head.value, ready.value, moment.value])
  if (!view.value) return null
  const { servers, one, other, lines } = view.value
  if (servers < 2) return <p class="hint">{words.oneServer}</p>
  const rows = beside(lines)
  return (
    <div class="scroll skew">
      <table class="mono">
        <thead><tr><th scope="col"><Server of={one} all={servers} pick={from} /></th><th scope="col"><Server of={other} all={servers} pick={to} /></th></tr></thead>
        <tbody>
          {rows.map(([left, right], i) => (
            <tr key={i} class={left === right ? '' : 'differs'}><td>{left}</td><td>{right}</td></tr>
          ))}
        </tbody>
      </table>
      {rows.length > 0 && rows.every(([left, right]) => left === right) && <p class="hint">{words.alike}</p>}
    </div>
  )
}

function Server({ of: { replica, version, known, rv, serves }, all, pick }: { of: ServerView; all: number; pick: typeof from }) {
  return (
    <>
      <select aria-label={text.timeline.replica('')} value={String(replica)} onChange={event => { pick.value = event.currentTarget.value }}>
        {Array.from({ length: all }, (_, i) => <option key={i} value={String(i + 1)}>{text.timeline.replica(String(i + 1))}</option>)}
      </select>
      <span class="hint"> {version}, {serves ? text.timeline.knows(known) : words.notServed}{serves && (rv ? `, rv ${rv}` : `, ${words.absent}`)}</span>
    </>
  )
}
