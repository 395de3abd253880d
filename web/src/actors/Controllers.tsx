// Controllers lists the controllers of the control plane: their states, the objects that they will reconcile next, and buttons for the
// commands that apply to them.
import { useEffect } from 'preact/hooks'
import type { Controller } from '../engine/protocol'
import { moment } from '../state/player'
import { head, ready, run } from '../state/session'
import { stateWords, text } from '../text'
import { elapsed } from '../timeline/elapsed'
import { wordsOf } from '../timeline/words'
import { ask, plane, wait } from './plane'

const words = text.actors

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
