// Transcript shows the lines that were run with their results: the requests that they sent, and the first lines of the answers.
import { signal } from '@preact/signals'
import type { JSX } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { entriesInView } from '../state/drawer'
import { embedded } from '../state/embed'
import { focusCommand } from '../state/page'
import { selected } from '../state/player'
import { due } from '../state/clock'
import { frames, head, lessonState, running, transcript, type Entry } from '../state/session'
import { text } from '../text'
import { afterDrawing } from '../ui/draw'
import { Pending } from './Pending'
import { prompted } from './printed'

const most = 60 // the most entries that are drawn, unless the user asks for all
const least = 40 // entries that stay when there are more than most: removing the first entry restyles all others, so many are removed at once

/** begin returns the index of the first entry to draw. before is the id of the entry that was drawn first last time. */
export function begin(entries: readonly Pick<Entry, 'id'>[], before: number): number {
  const at = entries.findIndex(({ id }) => id >= before)
  const drawn = at < 0 ? 0 : entries.length - at
  return drawn > most || drawn < least ? Math.max(0, entries.length - least) : at
}
const unrolled = signal(false)

export function Console() {
  const list = useRef<HTMLDivElement>(null)
  const entries = entriesInView.value
  const later = transcript.value.length - entries.length
  const first = useRef(0)
  const earlier = unrolled.value ? 0 : begin(entries, first.current)
  first.current = entries[earlier]?.id ?? 0
  useLayoutEffect(() => afterDrawing(() => list.current?.scrollTo({ top: list.current.scrollHeight })), [entries, running.value, due.value])
  return (
    <div class="console">
      <div class="transcript" ref={list} role="log" aria-label={text.tabs.console} tabIndex={0}>
        {entries.length === 0 && later === 0 ? <Starters /> : (
          <>
            {earlier > 0 && <button class="quiet" onClick={() => { unrolled.value = true }}>{text.console.earlier(earlier)}</button>}
            <ol>{entries.slice(earlier).map(entry => drawn(entry, entry.op > head.value.n))}</ol>
          </>
        )}
        <Pending />
        {later > 0 && <p class="hint">{text.console.later(later)}</p>}
      </div>
    </div>
  )
}

function Starters() {
  return (
    <div class="starters">
      <p class="hint">{lessonState.value ? text.console.here : text.console.empty}</p>
      <p class="chips">
        {(lessonState.value || embedded ? ['help'] : text.console.starters).map(starter => (
          <button key={starter} class="mono" onClick={() => focusCommand(starter)}>{starter}</button>
        ))}
      </p>
    </div>
  )
}

// kept caches the drawn entries. An entry never changes, except that it can be undone, and there are hundreds of entries.
const kept = new WeakMap<Entry, { undone: boolean; item: JSX.Element }>()

function drawn(entry: Entry, undone: boolean): JSX.Element {
  const before = kept.get(entry)
  if (before?.undone === undone) return before.item
  const item = <Item key={entry.id} entry={entry} undone={undone} />
  kept.set(entry, { undone, item })
  return item
}

function Item({ entry, undone }: { entry: Entry; undone: boolean }) {
  const { result } = entry
  return (
    <li class={`entry${undone ? ' undone' : ''}${entry.auto ? ' tick' : ''}`}>
      <p class="line mono"><span class="sign" aria-hidden="true">›</span> {entry.line}
        {undone && <span class="tag">{text.console.undone}</span>}</p>
      {prompted.test(entry.line)
        ? result && result.lines.length > 0 && <pre class="mono" lang="en" tabIndex={0}>{result.lines.map(said => said.slice(indent)).join('\n')}</pre>
        : result?.lines.map((said, i) => <AnswerLine key={i} said={said.trim()} entry={entry} />)}
      {result?.watch && prompted.test(entry.line) && <p class="hint small">{text.console.watching}</p>}
      {result?.waiting && <p class="hint">{text.console.waiting}</p>}
      {result && !result.ok && result.text && <p class="bad">{text.said(result.text)}</p>}
      {entry.error && <p class="bad">{text.said(entry.error)}</p>}
      {entry.help && <dl class="help">{entry.help.map(([word, means]) => <div key={word}><dt class="mono">{word}</dt><dd>{means}</dd></div>)}</dl>}
    </li>
  )
}

const indent = 3 // spaces before each line of a transcript

const exchanged = /^(\S+) (GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) (\S+) → (?:(\d+) )?(.*)$/
const received = /^(\S+) ◀ (.*)$/

// AnswerLine is one line of the engine's answer. A click on a request selects its frame; an event shows the watch that received it.
// A line with columns, such as one of kubectl get -w, begins where the table above it begins, and so does the time.
function AnswerLine({ said, entry }: { said: string; entry: Entry }) {
  const request = exchanged.exec(said)
  if (request) {
    const [, client, method, path, code = '', rest] = request
    return (
      <button class="row said" lang="en" onClick={() => { selected.value = answerFrame(entry) }}>
        <span class="who">{client}</span>
        <span><span class="mono sent"><b>{method}</b> {path}</span>{' '}
          <span class={Number(code) >= 400 ? 'bad' : 'fine'}><b>{code}</b> {rest}</span></span>
      </button>
    )
  }
  const event = received.exec(said)
  if (event) return <p class="said" lang="en"><span class="who">{event[1]}</span><span>◀ {event[2]}</span></p>
  return <p class="said" lang="en">{!/^--| {3}/.test(said) && <span class="who" />}<span class="mono">{said}</span></p>
}

function answerFrame(entry: Entry): number {
  const found = frames.value.findLast(frame => frame.op === entry.op && frame.kind === 'http.res')
    ?? frames.value.findLast(frame => frame.op === entry.op && frame.kind === 'http.req')
  return found?.n ?? 0
}
