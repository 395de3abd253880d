// Prose draws the little markup that lessons use: paragraphs, `code`, **bold**. Everything becomes text nodes. Code
// that is a line of the scenario language becomes a button that puts it into the command line.
import type { ComponentChildren } from 'preact'
import { focusCommand } from '../state/page'
import { text } from '../text.en'

const commands = new Set(('get list watch create apply replace patch delete deletecollection request tick clock settle '
  + 'compact expire restore lag cut resume restart stall close stop route hold release jump fault informer pager '
  + 'controller step crash start expect let').split(' '))

/** runnable says whether code is a whole command, and not only the name of one. */
export function runnable(code: string): boolean {
  const [first = '', ...rest] = code.trim().split(/\s+/)
  return commands.has(first) && (rest.length > 0 || ['compact', 'expire', 'settle'].includes(first))
}

/** Prose draws text; with lead, its first runnable line is the one highlighted action. */
export function Prose({ text: source, lead = false }: { text: string; lead?: boolean }) {
  let first = lead
  const inline = (part: string, key: number): ComponentChildren => {
    if (part.startsWith('**')) return <b key={key}>{part.slice(2, -2)}</b>
    if (!part.startsWith('`')) return part
    const code = part.slice(1, -1)
    if (!runnable(code)) return <code key={key}>{code}</code>
    const main = first
    first = false
    return <Line key={key} code={code} main={main} />
  }
  return (
    <div class="prose">
      {source.trim().split(/\n\s*\n/).map((paragraph, i) => (
        <p key={i}>{paragraph.split(/(`[^`]+`|\*\*[^*]+\*\*)/).filter(Boolean).map(inline)}</p>
      ))}
    </div>
  )
}

function Line({ code, main }: { code: string; main: boolean }) {
  return (
    <button class={main ? 'line main mono' : 'line mono'} title={text.lessons.tryIt} onClick={() => focusCommand(code)}>
      {code}
    </button>
  )
}
