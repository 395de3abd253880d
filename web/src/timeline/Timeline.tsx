// Timeline shows which revisions the store, the servers, the watches, the clients and the controllers know, on one axis of revisions.
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { TimelineView, TokenSpan } from '../engine/protocol'
import { due } from '../state/clock'
import { openedLane } from '../state/page'
import { paced } from '../state/pace'
import { arrived, known, picture, selected, unfolded, view } from '../state/player'
import { frames, head, query, ready } from '../state/session'
import { stateWords, text } from '../text'
import { later } from '../ui/later'
import { Controls, Past } from './Controls'
import type { Lane } from './fold'
import type { Axis } from './layout'
import { describe, laneName } from './marks'
import { Track } from './Track'

const LaneWords = later(() => import('./LaneWords'))
const Card = later(() => import('./Card'))

export const axis = signal<Axis>('revision')
const tokens = signal<TokenSpan[]>([])
const states = signal<Map<string, string>>(new Map())
/** versions are the versions of the API servers by lane id. */
export const versions = signal<Map<string, string>>(new Map())

/** showTimeline shows the engine's view of lanes and tokens at the newest frame, also from a recording. */
export function showTimeline(view: TimelineView): void {
  tokens.value = view.tokens ?? []
  known.value = view.lanes.filter(lane => lane.kind !== 'client')
  due.value = view.next ?? null
  versions.value = new Map(view.lanes.filter(lane => lane.kind === 'replica').map(lane => [lane.id, /v\d+\.\d+/.exec(lane.label)?.[0] ?? '']))
  states.value = new Map(view.lanes.map(lane => [lane.id, lane.state ?? '']))
}

export function Timeline() {
  const shown = picture.value
  return (
    <section class="timeline" aria-label={text.timeline.title}>
      <Controls />
      <Past />
      {openedLane.value && <LaneWords lanes={shown.lanes} states={states.value} />}
      {shown.lanes.length === 0 ? <p class="nothing">{text.timeline.empty}</p> : (
        <div class="lanes">
          <ul class="labels">
            <li class="axis">
              <button class="quiet" title={text.timeline.axis} onClick={() => { axis.value = axis.value === 'revision' ? 'time' : 'revision' }}>
                {axis.value === 'revision' ? text.timeline.revision : text.timeline.time} →
              </button>
            </li>
            {shown.lanes.map(lane => <Label key={lane.id} lane={lane} head={shown.head} />)}
          </ul>
          <Track axis={axis.value} tokens={tokens.value} />
        </div>
      )}
      <Quiet lanes={shown.quiet ?? []} />
      <NewestFrames />
      <TimelineQuery />
      {ready.value && <Card />}
    </section>
  )
}

const ask = paced(() => { query<TimelineView>('timeline').then(showTimeline, () => {}) })

// TimelineQuery renders nothing. It queries the timeline after each operation, so that the rest of the timeline is not rendered for that.
function TimelineQuery() {
  useEffect(() => { if (ready.value) ask() }, [head.value, ready.value])
  return null
}

function Label({ lane, head }: { lane: Lane; head: number }) {
  const words = text.timeline
  const behind = lane.horizon > 0 && lane.kind !== 'client' ? head - lane.horizon : 0
  const state = lane.expired ? words.expired : lane.closed ? words.closed : arrived.value ? stateWords(states.value.get(lane.id) ?? '') : ''
  let note = lane.horizon ? words.knows(String(lane.horizon)) : ''
  if (behind > 0 && lane.kind === 'replica') note = words.behind(behind)
  if (lane.kind === 'replica') note = [versions.value.get(lane.id), note].filter(Boolean).join(', ')
  if (lane.kind === 'watch') note = [words.watch('').trim(), note].filter(Boolean).join(', ')
  return (
    <li class={lane.expired ? 'expired' : lane.closed ? 'closed' : ''}>
      <button class="name" data-lane={lane.id} title={laneName(lane.id)} aria-label={words.words(laneName(lane.id))}
        aria-expanded={openedLane.value === lane.id} onClick={() => { openedLane.value = openedLane.value === lane.id ? '' : lane.id }}><LaneName lane={lane} /></button>
      <span class="knows">{state || note}</span>
    </li>
  )
}

// Quiet shows how many controllers are hidden, and a button to show them.
function Quiet({ lanes }: { lanes: readonly Lane[] }) {
  if (lanes.length === 0 && !unfolded.value) return null
  return (
    <p class="folded">
      <button class="quiet" aria-expanded={unfolded.value} onClick={() => { unfolded.value = !unfolded.value }}>
        {unfolded.value ? text.timeline.fold : text.timeline.quiet(lanes.length)}
      </button>
    </p>
  )
}

// ending is the number of characters at the end of a long lane name that are always shown, because the names of lanes often begin alike.
const ending = 8

function LaneName({ lane }: { lane: Lane }) {
  const name = lane.kind === 'watch' ? lane.label : laneName(lane.id)
  if (name.length <= ending) return <>{name}</>
  return <><span class="stem">{name.slice(0, -ending)}</span><span class="ending">{name.slice(-ending)}</span></>
}

const announced = 3

// NewestFrames contains the newest frames as text for screen readers. The tab "As text" has more of them.
function NewestFrames() {
  const last = frames.value.slice(Math.max(0, view.value - announced), view.value)
  return (
    <div class="heard" role="log" aria-live="polite" aria-label={text.timeline.log}>
      {last.map(frame => <p key={frame.n}>{describe(frame)}</p>)}
    </div>
  )
}

/** TextLog lists the last 500 frames up to the one in view as text. A click on a line selects its frame. */
export function TextLog() {
  const from = Math.max(0, view.value - 500)
  return (
    <div class="textlog">
      <p class="hint">{text.timeline.logHint}</p>
      <ol start={from + 1}>
        {frames.value.slice(from, view.value).map(frame => (
          <li key={frame.n} class={frame.n === selected.value ? 'on' : ''}>
            <button class="row" onClick={() => { selected.value = frame.n }}>
              <span class="num">{frame.n}</span>{describe(frame)}
            </button>
          </li>
        ))}
      </ol>
    </div>
  )
}
