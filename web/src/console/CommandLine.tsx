// CommandLine is the input for one line of the scenario language, with a history, and completion from the engine. It is an input element
// and a list instead of a terminal, so that everything in it can be selected, zoomed and read aloud.
import { signal } from '@preact/signals'
import { filesOf } from '../state/manifests'
import { inside, line } from '../state/page'
import { live, rehearsing, toEnd } from '../state/player'
import { followed, head, interrupt, note, query, ready, run, running, transcript } from '../state/session'
import { text } from '../text'
import { catchUp } from '../state/clock'
import { Undo } from '../timeline/Controls'
import { nextPicture } from '../ui/draw'
import { opsOf, reach, runAll, withManifests, type Candidate, type Completion } from './prompt'

const none: Completion = { from: 0, to: 0, items: [] }
const completion = signal<Completion>(none)
const chosen = signal(-1)
const recalled = signal(0) // steps back in the history; 0 is the line being typed
const most = 8

/** gathered are the lines so far of a here-document that is being typed. */
const gathered = signal<string[]>([])

// special matches the lines that the page answers itself (special.ts).
const special = /^(?:(?:help|\?)(?:\s+\S+)?|clear|(?:kubectl|k)\s+(?:edit\s.*|exec\s.*sh|(?:run|debug)\s.*-(?:it|ti|t|-tty)\b.*))$/

/** submit runs a line that was typed or clicked. */
export async function submit(command: string): Promise<void> {
  const trimmed = command.trim()
  if (!trimmed && gathered.value.length === 0) return
  line.value = ''
  close()
  recalled.value = 0
  if (gathered.value.length > 0 || /<<-?\s*['"]?\w+/.test(trimmed)) return gather(command)
  if ((inside.value || special.test(trimmed)) && (await (await import('./special')).answer(trimmed))) return
  if (!live.value || rehearsing.value) toEnd() // show the newest frame, where the answer will be
  void catchUp() // not awaited: the engine keeps the order of requests
  const copies = /https?:/.test(trimmed) ? (await import('./examples')).examplesOf(trimmed) : {}
  await run(trimmed, { ...filesOf(trimmed), ...copies })
}

// gather collects the lines of a here-document. After its last line it runs the whole.
async function gather(typed: string): Promise<void> {
  const lines = [...gathered.value, typed]
  const end = /<<-?\s*['"]?(\w+)/.exec(lines[0] ?? '')?.[1]
  const ended = lines.length > 1 && typed.trim() === end
  gathered.value = ended ? [] : lines
  if (ended) await runText(lines.join('\n'))
}

const runText = (text: string) => opsOf(text).then(runAll, (error: Error) => note({ op: head.value.n, line: text, error: error.message }))

// stop handles Ctrl+C. It stops the running line, a here-document that is being typed, the shell in a container, or the newest watch that a
// kubectl line began.
function stop(): void {
  line.value = ''
  close()
  if (gathered.value.length > 0) gathered.value = []
  else if (running.value) void interrupt()
  else if (inside.value) inside.value = ''
  else {
    const watch = followed(transcript.value)
    if (watch) void run(`stop ${watch}`)
  }
}

function close(): void {
  completion.value = none
  chosen.value = -1
}

// left closes the completions when the line loses the focus. It waits a moment, so that a click on a completion still counts, and keeps
// them open if the line has the focus again.
function left(input: HTMLInputElement): void {
  window.setTimeout(() => {
    if (document.activeElement !== input) close()
  }, 150)
}

async function complete(input: HTMLInputElement): Promise<void> {
  const asked = input.value
  if (!asked.trim() || !ready.value) return close()
  await nextPicture()
  if (line.value === asked) await offer(input) // otherwise the line has changed or was run meanwhile
}

let offered = '' // the line for which the completions were requested

async function offer(input: HTMLInputElement): Promise<void> {
  const asked = input.value
  try {
    const reply = await query<Completion>('complete', { line: asked, cursor: input.selectionStart ?? asked.length })
    if (input.value !== asked) return
    const answer = withManifests(asked, { ...reply, items: reply.items ?? [] })
    completion.value = { ...answer, items: answer.items.filter(item => item.text !== asked.slice(answer.from, answer.to)) }
    chosen.value = -1
    offered = asked
  } catch {
    close()
  }
}

function accept(input: HTMLInputElement, item: Candidate): void {
  const { from, to } = completion.value
  const word = item.text.endsWith('=') ? item.text : `${item.text} `
  line.value = input.value.slice(0, from) + word + input.value.slice(to).trimStart()
  close()
  const cursor = from + word.length
  requestAnimationFrame(() => {
    input.focus()
    input.setSelectionRange(cursor, cursor)
    void complete(input)
  })
}

// extend extends the line as far as all completions agree, like a shell. The completions stay open.
function extend(input: HTMLInputElement): void {
  const next = reach(input.value, completion.value)
  if (next === input.value) return
  line.value = next
  requestAnimationFrame(() => {
    input.setSelectionRange(next.length, next.length)
    void complete(input)
  })
}

// paste runs a text of several lines, one line after the other. A text of one line is inserted as usual.
function paste(event: ClipboardEvent): void {
  const pasted = event.clipboardData?.getData('text/plain') ?? ''
  if (!pasted.trim().includes('\n') || !ready.value) return
  event.preventDefault()
  const text = line.value + pasted
  line.value = ''
  close()
  void runText(text)
}

function recallLine(by: number): void {
  const lines = [...new Set(transcript.value.map(entry => entry.line).reverse())]
  const next = Math.max(0, Math.min(lines.length, recalled.value + by))
  recalled.value = next
  line.value = next === 0 ? '' : (lines[next - 1] ?? '')
  close()
}

function onKey(event: KeyboardEvent & { currentTarget: HTMLInputElement }): void {
  const input = event.currentTarget
  const items = completion.value.items.slice(0, most)
  const item = items[chosen.value]
  if (event.ctrlKey && event.key === 'c' && input.selectionStart === input.selectionEnd) {
    event.preventDefault()
    stop()
    return
  }
  switch (event.key) {
    case 'ArrowDown':
      if (items.length > 0) chosen.value = (chosen.value + 1) % items.length
      else recallLine(-1)
      break
    case 'ArrowUp':
      if (chosen.value >= 0) chosen.value--
      else recallLine(1)
      break
    case 'Tab':
      if (event.shiftKey || items.length === 0) return
      if (item) accept(input, item)
      else if (offered === input.value) extend(input)
      else void offer(input).then(() => extend(input)) // the line has changed since the completions were requested
      break
    case 'Escape':
      if (items.length > 0) close()
      else input.blur()
      break
    case 'Enter':
      if (item) accept(input, item)
      else {
        void submit(input.value)
        input.value = line.value // at once, because the user may type the next line before the page is drawn
      }
      break
    default:
      return
  }
  event.preventDefault()
}

export function CommandLine() {
  const all = completion.value.items
  const items = all.slice(0, most)
  return (
    <div class="command">
      {gathered.value.length > 0 && <pre class="gathered mono">{gathered.value.join('\n')}</pre>}
      <div class="prompt">
        <span class="mono sign" aria-hidden="true">{inside.value ? '#' : '›'}</span>
        <input id="command" class="mono" role="combobox" aria-label={text.console.label} aria-autocomplete="list"
          aria-expanded={items.length > 0} aria-controls="candidates" autocomplete="off" autocapitalize="off"
          spellcheck={false} placeholder={text.console.placeholder} value={line.value}
          aria-activedescendant={chosen.value >= 0 ? `candidate-${chosen.value}` : undefined}
          onInput={event => { line.value = event.currentTarget.value; void complete(event.currentTarget) }}
          onKeyDown={onKey} onPaste={paste} onBlur={event => left(event.currentTarget)} />
        <Undo />
        <button class="primary" aria-disabled={!ready.value} onClick={() => void submit(line.value)}>{text.console.run}</button>
      </div>
      <ul id="candidates" role="listbox" aria-label={text.console.candidates(all.length)} hidden={items.length === 0}>
        {items.map((item, i) => (
          <li key={item.text} id={`candidate-${i}`} role="option" aria-selected={i === chosen.value}
            onPointerDown={event => { event.preventDefault(); accept(document.getElementById('command') as HTMLInputElement, item) }}>
            <code>{item.text}</code><span>{text.said(item.detail)}</span>
          </li>
        ))}
        {all.length > most && <li role="presentation"><span>{text.console.more(all.length - most)}</span></li>}
      </ul>
      <p class="hint small">{!live.value ? text.console.past : line.value ? text.console.enter : text.console.notKubectl}</p>
    </div>
  )
}
