// LaneWords lists the commands for the server, watch, client or controller of a lane. A click on the lane's name opens it.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Client } from '../engine/protocol'
import { openedLane } from '../state/page'
import { query, ready, run } from '../state/session'
import { text } from '../text'
import { Icon } from '../ui/Icon'
import type { Lane } from './fold'
import { laneName } from './marks'
import { wordsOf } from './words'

export default function LaneWords({ lanes, states }: { lanes: readonly Lane[]; states: ReadonlyMap<string, string> }) {
  const box = useRef<HTMLDivElement>(null)
  const [clients, setClients] = useState<Client[]>([])
  const lane = lanes.find(one => one.id === openedLane.value)
  const words = lane ? wordsOf(lane, states.get(lane.id), clients.find(one => one.name === lane.label)) : []
  useEffect(() => {
    box.current?.querySelector('button')?.focus()
    if (lane?.kind === 'client' && ready.value) query<{ clients: Client[] }>('clients').then(view => setClients(view.clients ?? []), () => {})
  }, [lane?.id])
  // A command may be replaced after it has run. The focus then moves to the first command of the list.
  useLayoutEffect(() => { if (document.activeElement === document.body) box.current?.querySelector('button')?.focus() }, [words.join()])
  if (!lane) return null
  const close = () => {
    document.querySelector<HTMLElement>(`[data-lane="${CSS.escape(lane.id)}"]`)?.focus()
    openedLane.value = ''
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
