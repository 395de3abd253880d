// Compare shows the differences between two revisions of an object.
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { head, query, ready } from '../state/session'
import { text } from '../text'

interface Difference {
  from: string
  to: string
  lines: { op: string; text: string }[]
}

interface Revision {
  rv: string
  type: string
}

const words = text.objects
const revisions = signal<Revision[]>([])
const from = signal('')
const to = signal('')
const difference = signal<Difference | null>(null)

export function Compare({ of, at }: { of: { resource: string; ns: string; name: string }; at: string | undefined }) {
  useEffect(() => {
    if (!ready.value) return
    query<{ revisions: Revision[] }>('history', of).then(({ revisions: all }) => {
      revisions.value = (all ?? []).filter(one => !at || Number(one.rv) <= Number(at))
      if (!revisions.value.some(one => one.rv === from.value)) from.value = (revisions.value.at(-2) ?? revisions.value[0])?.rv ?? ''
      if (!revisions.value.some(one => one.rv === to.value)) to.value = revisions.value.at(-1)?.rv ?? ''
    }, () => { revisions.value = [] })
  }, [of, at, head.value, ready.value])
  useEffect(() => {
    if (!from.value || !ready.value) return
    query<Difference>('diff', { ...of, from: from.value, to: to.value || at || '' })
      .then(answer => { difference.value = answer }, () => { difference.value = null })
  }, [of, from.value, to.value, at, head.value, ready.value])
  const changed = difference.value?.lines.some(line => line.op.trim() !== '')
  return (
    <div class="compare">
      <div class="split">
        <Pick label={words.from} value={from.value} onPick={rv => { from.value = rv }} />
        <Pick label={words.to} value={to.value} onPick={rv => { to.value = rv }} />
      </div>
      {difference.value && !changed && <p class="hint">{words.same}</p>}
      {changed && (
        <ol class="diff mono" tabIndex={0}>
          {difference.value?.lines.map((line, i) => (
            <li key={i} class={line.op === '+' ? 'added' : line.op === '-' ? 'removed' : ''}>
              <span class="sign">{line.op}</span><span class="yaml">{line.text}</span>
            </li>
          ))}
        </ol>
      )}
    </div>
  )
}

function Pick({ label, value, onPick }: { label: string; value: string; onPick(rv: string): void }) {
  return (
    <label><span>{label}</span>
      <select value={value} onChange={event => onPick(event.currentTarget.value)}>
        {revisions.value.map(one => <option key={one.rv} value={one.rv}>{`${one.rv} ${one.type.toLowerCase()}`}</option>)}
      </select>
    </label>
  )
}
