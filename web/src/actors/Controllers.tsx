// Controllers lists the controllers of the control plane: their states, the objects that they will reconcile next, and buttons for the
// commands that apply to them.
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Controller } from '../engine/protocol'
import { moment } from '../state/player'
import { head, query, ready, run } from '../state/session'
import { stateWords, text } from '../text'
import { elapsed } from '../timeline/elapsed'
import { wordsOf } from '../timeline/words'

interface Plane {
  controllers: Controller[]
  stepped: boolean
}

const words = text.actors
const plane = signal<Plane>({ controllers: [], stepped: false })
let asked = 0 // the number of queries
let chosen: boolean | undefined // the choice of the user, until its command has an answer

// ask asks the engine for the controllers. The answer is ignored if there is a newer query.
function ask(): void {
  const mine = ++asked
  query<Plane>('controllers', moment.value).then(view => {
    if (mine === asked) plane.value = { ...view, stepped: chosen ?? view.stepped }
  }, () => {})
}

export function Controllers() {
  useEffect(() => {
    if (ready.value) ask()
  }, [head.value, ready.value, moment.value])
  const { controllers, stepped } = plane.value
  const idle = controllers.filter(one => one.all === 0 && !one.state)
  return (
    <section aria-label={words.controllers} class="plane">
      <h2>{words.controllers}</h2>
      {controllers.length < 2 ? <p class="hint">{words.noControllers}</p> : (
        <>
          <p class="chips">
            <label class="option">
              <input type="checkbox" checked={stepped} onChange={event => void wait(event.currentTarget.checked)} />
              <span>{words.stepped}</span>
            </label>
            <button class="primary" aria-disabled={!stepped} onClick={() => { if (stepped) void run('reconcile') }}>{words.stepOne}</button>
            <button onClick={() => void run('tick settled')}>{words.settle}</button>
          </p>
          <ul class="cards">{controllers.filter(one => !idle.includes(one)).map(one => <Card key={one.name} of={one} />)}</ul>
          <details>
            <summary>{words.idleOnes(idle.length)}</summary>
            <ul class="cards">{idle.map(one => <Card key={one.name} of={one} />)}</ul>
          </details>
        </>
      )}
    </section>
  )
}

// wait runs the command stepped. It shows the choice at once, and restores the previous one if the engine refuses the command.
async function wait(stepped: boolean): Promise<void> {
  chosen = stepped
  plane.value = { ...plane.value, stepped }
  const done = await run(`stepped ${stepped ? 'yes' : 'no'}`)
  if (chosen !== stepped) return // changed again meanwhile
  chosen = undefined
  if (!done) plane.value = { ...plane.value, stepped: !stepped }
  ask()
}

function Card({ of: { name, state, slow, lagging, rv, due, all } }: { of: Controller }) {
  const more = all - due.length
  return (
    <li>
      <p class="wrap"><b>{name}</b></p>
      <p>{words.applied} <span class="mono">{rv}</span>{state && <span class="bad"> {stateWords(state)} {lagging?.join(', ')}{slow ? elapsed(slow) : ''}</span>}</p>
      {due.length > 0 ? (
        <>
          <p class="hint">{words.about}</p>
          <ol class="mono small wrap">
            {due.map(one => <li key={`${one.key} ${one.in}`}>{words.due(one.key, one.in > 0 ? elapsed(one.in) : '')}</li>)}
            {more > 0 && <li>{text.console.more(more)}</li>}
          </ol>
        </>
      ) : <p class="hint">{words.idle}</p>}
      <p class="chips">
        {wordsOf({ kind: 'controller', label: name }, state).map(line => {
          const said = line.replace(` ${name}`, '')
          return <button key={line} aria-label={`${said} ${name}`} onClick={() => void run(line)}>{said}</button>
        })}
      </p>
    </li>
  )
}
