// Faults lists the injected faults and adds new ones, in the text form that the Go API parses and prints.
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { moment } from '../state/player'
import { head, query, ready, run } from '../state/session'
import { text } from '../text'

interface Fault {
  text: string
  state: string
}

const words = text.actors
const faults = signal<Fault[]>([])
const line = signal('on update configmaps times=1 do fail Conflict')
const examples = [
  'on update configmaps times=1 do fail Conflict',
  'on create * times=1 do fail ServiceUnavailable',
  'on watch configmaps do drop',
]

export function Faults() {
  useEffect(() => {
    if (!ready.value) return
    query<{ faults: Fault[] }>('faults', moment.value).then(view => { faults.value = view.faults ?? [] }, () => {})
  }, [head.value, ready.value, moment.value])
  return (
    <>
      {faults.value.length === 0 ? <p class="hint">{words.noFaults}</p> : (
        <ul class="plain">{faults.value.map((fault, i) => <li key={i}><code>{fault.text}</code> <span class="hint">{fault.state}</span></li>)}</ul>
      )}
      <form class="split" onSubmit={event => { event.preventDefault(); void run(`fault ${line.value}`) }}>
        <label class="grow"><span>{words.faultLine}</span>
          <input class="mono" list="faults" value={line.value} spellcheck={false} onInput={event => { line.value = event.currentTarget.value }} />
        </label>
        <datalist id="faults">{examples.map(example => <option key={example} value={example} />)}</datalist>
        <button type="submit">{words.addFault}</button>
        <button type="button" class="quiet" onClick={() => void run('fault clear')}>{words.clear}</button>
      </form>
    </>
  )
}
