// LaneWords is what can be done to whom a lane stands for: it opens with a click on the lane's name.
import { signal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { Client } from '../engine/protocol'
import { query, ready, run } from '../state/session'
import { text } from '../text'
import { Icon } from '../ui/Icon'
import type { Lane } from './fold'
import { laneName } from './marks'
import { wordsOf } from './words'

/** opened is the id of the lane whose words are shown; "": of none. */
export const opened = signal('')
const clients = signal<Client[]>([])

/** openLane opens or closes the words of a lane. */
export function openLane(lane: Lane): void {
  opened.value = opened.value === lane.id ? '' : lane.id
  if (lane.kind === 'client' && ready.value) {
    query<{ clients: Client[] }>('clients').then(view => { clients.value = view.clients ?? [] }, () => {})
  }
}

export function LaneWords({ lanes, states }: { lanes: readonly Lane[]; states: ReadonlyMap<string, string> }) {
  const box = useRef<HTMLDivElement>(null)
  const lane = lanes.find(one => one.id === opened.value)
  const words = lane ? wordsOf(lane, states.get(lane.id), clients.value.find(one => one.name === lane.label)) : []
  useEffect(() => { box.current?.querySelector('button')?.focus() }, [lane?.id])
  // The word that was said may be another one now: who stood on it stays here.
  useLayoutEffect(() => { if (document.activeElement === document.body) box.current?.querySelector('button')?.focus() }, [words.join()])
  if (!lane) return null
  const close = () => {
    document.querySelector<HTMLElement>(`[data-lane="${CSS.escape(lane.id)}"]`)?.focus()
    opened.value = ''
  }
  return (
    <div class="past words" role="group" aria-label={text.timeline.words(laneName(lane.id))} ref={box}
      onKeyDown={event => { if (event.key === 'Escape') { event.stopPropagation(); close() } }}>
      <b>{laneName(lane.id)}</b>
      {words.map(line => <button key={line} class="mono" onClick={() => void run(line)}>{line}</button>)}
      {words.length === 0 && <span class="hint">{text.timeline.closed}</span>}
      <button class="icon push" aria-label={text.inspector.close} onClick={close}><Icon name="close" /></button>
    </div>
  )
}
