// Transcript is what was run and what came of it: the line, the HTTP it sent, the answer's first lines.
import { useEffect, useRef } from 'preact/hooks'
import { focusCommand } from '../state/page'
import { selected } from '../state/player'
import { frames, head, transcript, type Entry } from '../state/session'
import { text } from '../text.en'
import { CommandLine, submit } from './CommandLine'

export function Console() {
  const list = useRef<HTMLDivElement>(null)
  const entries = transcript.value
  useEffect(() => { if (list.current) list.current.scrollTop = list.current.scrollHeight }, [entries])
  return (
    <div class="console">
      <div class="transcript" ref={list} role="log" aria-label={text.tabs.console} tabIndex={0}>
        {entries.length === 0 ? <Starters /> : <ol>{entries.map(entry => <Item key={entry.id} entry={entry} />)}</ol>}
      </div>
      <CommandLine />
      <p class="hint small">{text.console.notKubectl}</p>
    </div>
  )
}

function Starters() {
  return (
    <div class="starters">
      <p class="hint">{text.console.empty}</p>
      <p class="chips">
        {text.console.starters.map(starter => (
          <button key={starter} class="mono" onClick={() => focusCommand(starter)}>{starter}</button>
        ))}
      </p>
    </div>
  )
}

function Item({ entry }: { entry: Entry }) {
  const undone = entry.op > head.value.n
  const { result } = entry
  const http = result?.http
  return (
    <li class={undone ? 'entry undone' : 'entry'}>
      <p class="line mono"><span class="sign" aria-hidden="true">›</span> {entry.line}
        {undone && <span class="tag">{text.console.undone}</span>}</p>
      {http && (
        <p class="sent mono">
          <button class="row" onClick={() => { selected.value = requestFrame(entry) }}>
            <b>{http.req.method}</b> {http.req.path}
            {http.res ? <span class={http.res.code >= 400 ? 'code bad' : 'code'}>{http.res.code} {http.res.reason}</span>
              : <span class="code">{text.console.waiting}</span>}
          </button>
        </p>
      )}
      {result && result.lines.length > 0 && <pre tabIndex={-1}>{result.lines.join('\n')}</pre>}
      {result && !result.ok && result.text && <p class="bad">{result.text}</p>}
      {entry.error && <p class="bad">{entry.error}</p>}
    </li>
  )
}

function requestFrame(entry: Entry): number {
  const found = frames.value.findLast(frame => frame.op === entry.op && frame.kind === 'http.res')
    ?? frames.value.findLast(frame => frame.op === entry.op && frame.kind === 'http.req')
  return found?.n ?? 0
}

export { submit }
