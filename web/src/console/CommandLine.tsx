// CommandLine is one line of the scenario language, with completion from the engine and a history. It is an input and
// a list, no terminal: everything in it can be selected, zoomed and read aloud.
import { signal } from '@preact/signals'
import { filesOf } from '../state/manifests'
import { line } from '../state/page'
import { live } from '../state/player'
import { head, note, query, ready, run, transcript } from '../state/session'
import { text } from '../text'
import { nextPicture } from '../ui/draw'
import { opsOf, reach, runAll, withManifests, type Candidate, type Completion } from './prompt'

const none: Completion = { from: 0, to: 0, items: [] }
const completion = signal<Completion>(none)
const chosen = signal(-1)
const recalled = signal(0) // how many lines back in the history; 0: the line being typed
const most = 8

/** submit runs a line, from wherever it came. */
export async function submit(command: string): Promise<void> {
  const trimmed = command.trim()
  if (!trimmed) return
  line.value = ''
  close()
  recalled.value = 0
  const help = /^(?:help|\?)(?:\s+(\S+))?$/.exec(trimmed)
  if (help) await explain(trimmed, help[1])
  else await run(trimmed, filesOf(trimmed))
}

interface Command {
  name: string
  usage: string
  text: string
  example: string
  flags?: { text: string; detail: string }[]
}

// explain answers help: it is asked of the engine's table of commands, and is no operation.
async function explain(asked: string, name?: string): Promise<void> {
  const { commands } = await query<{ commands: Command[] }>('help')
  const one = commands.find(command => command.name === name)
  const rows: [string, string][] = one
    ? [[one.usage, text.said(one.text)], [one.example, text.console.example], ...(one.flags ?? []).map(flag => [flag.text, text.said(flag.detail)] as [string, string])]
    : commands.map(command => [command.usage, text.said(command.text)])
  note({ op: head.value.n, line: asked, help: rows })
}

function close(): void {
  completion.value = none
  chosen.value = -1
}

// left closes what was offered, a moment later, so that it can still be clicked, and unless the line has the focus again.
function left(input: HTMLInputElement): void {
  window.setTimeout(() => {
    if (document.activeElement !== input) close()
  }, 150)
}

async function complete(input: HTMLInputElement): Promise<void> {
  const asked = input.value
  if (!asked.trim() || !ready.value) return close()
  await nextPicture()
  if (line.value === asked) await offer(input) // else typed on, or run
}

let offered = '' // the line that the completion is of

async function offer(input: HTMLInputElement): Promise<void> {
  const asked = input.value
  try {
    const told = await query<Completion>('complete', { line: asked, cursor: input.selectionStart ?? asked.length })
    if (input.value !== asked) return
    const answer = withManifests(asked, { ...told, items: told.items ?? [] })
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

// goOn goes as far as is certain, as a shell does; what is left to choose from stays in sight.
function goOn(input: HTMLInputElement): void {
  const next = reach(input.value, completion.value)
  if (next === input.value) return
  line.value = next
  requestAnimationFrame(() => {
    input.setSelectionRange(next.length, next.length)
    void complete(input)
  })
}

// paste runs several lines one after the other; one line is typed, as ever.
function paste(event: ClipboardEvent): void {
  const pasted = event.clipboardData?.getData('text/plain') ?? ''
  if (!pasted.trim().includes('\n') || !ready.value) return
  event.preventDefault()
  const text = line.value + pasted
  line.value = ''
  close()
  opsOf(text).then(runAll, (error: Error) => note({ op: head.value.n, line: text, error: error.message }))
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
      else if (offered === input.value) goOn(input)
      else void offer(input).then(() => goOn(input)) // typed on since
      break
    case 'Escape':
      if (items.length > 0) close()
      else input.blur()
      break
    case 'Enter':
      if (item) accept(input, item)
      else void submit(input.value)
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
      <div class="prompt">
        <span class="mono sign" aria-hidden="true">›</span>
        <input id="command" class="mono" role="combobox" aria-label={text.console.label} aria-autocomplete="list"
          aria-expanded={items.length > 0} aria-controls="candidates" autocomplete="off" autocapitalize="off"
          spellcheck={false} placeholder={text.console.placeholder} value={line.value}
          aria-activedescendant={chosen.value >= 0 ? `candidate-${chosen.value}` : undefined}
          onInput={event => { line.value = event.currentTarget.value; void complete(event.currentTarget) }}
          onKeyDown={onKey} onPaste={paste} onBlur={event => left(event.currentTarget)} />
        <button class="primary" aria-disabled={!ready.value} onClick={() => void submit(line.value)}>{text.console.run}</button>
      </div>
      <ul id="candidates" role="listbox" aria-label={text.console.candidates(all.length)} hidden={items.length === 0}>
        {items.map((item, i) => (
          <li key={item.text} id={`candidate-${i}`} role="option" aria-selected={i === chosen.value}
            onPointerDown={event => { event.preventDefault(); accept(document.getElementById('command') as HTMLInputElement, item) }}>
            <code>{item.text}</code><span>{text.said(item.detail)}</span>
          </li>
        ))}
        {all.length > most && <li role="presentation"><span>{text.actors.more(all.length - most)}</span></li>}
      </ul>
      <p class="hint small">{!live.value ? text.console.past : line.value ? text.console.enter : text.console.notKubectl}</p>
    </div>
  )
}
