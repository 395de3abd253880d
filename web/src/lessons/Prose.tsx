// Prose renders the markup of lessons: paragraphs, `code`, **bold**. Texts become text nodes. Code that is a line of the scenario language
// becomes a button that copies it to the command line.
import type { ComponentChildren } from 'preact'
import { focusCommand } from '../state/page'
import { text } from '../text'
import { runnable } from './runnable'

/** Prose renders text. With lead, its first runnable line is highlighted as the main action. With still, code is not a button. */
export function Prose({ text: source, lead = false, still = false }: { text: string; lead?: boolean; still?: boolean }) {
  let first = lead
  const inline = (part: string, key: number): ComponentChildren => {
    if (part.startsWith('**')) return <b key={key}>{part.slice(2, -2)}</b>
    if (!part.startsWith('`')) return part
    const code = part.slice(1, -1)
    if (still || !runnable(code)) return <code key={key}>{code}</code>
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

const longWord = 24 // characters: longer words of a command may be broken over two lines

function Line({ code, main }: { code: string; main: boolean }) {
  return (
    <button class={main ? 'line main mono' : 'line mono'} title={text.lessons.tryIt} onClick={() => focusCommand(code)}>
      {code.split(/( )/).map((word, i) => (word !== ' ' && word.length < longWord ? <span key={i}>{word}</span> : word))}
    </button>
  )
}
