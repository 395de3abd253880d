// Prose renders the markup of lessons: paragraphs, `code`, **bold**. Texts become text nodes. Code that is a line of the scenario language
// becomes a button that copies it to the command line.
import type { ComponentChildren } from 'preact'
import { focusCommand } from '../state/page'
import { text } from '../text'
import { mainOf, runnable } from './runnable'

/** Prose renders text. With lead, its first line to run that is a paragraph of its own is the main action. With still, code is not a button. */
export function Prose({ text: source, lead = false, still = false }: { text: string; lead?: boolean; still?: boolean }) {
  const paragraphs = source.trim().split(/\n\s*\n/)
  const main = lead ? mainOf(paragraphs) : -1
  const inline = (part: string, key: number, main: boolean): ComponentChildren => {
    if (part.startsWith('**')) return <b key={key}>{part.slice(2, -2)}</b>
    if (!part.startsWith('`')) return part
    const code = part.slice(1, -1)
    if (still || !runnable(code)) return <code key={key}>{code}</code>
    return <Line key={key} code={code} main={main} />
  }
  return (
    <div class="prose">
      {paragraphs.map((paragraph, i) => (
        <p key={i}>{paragraph.split(/(`[^`]+`|\*\*[^*]+\*\*)/).filter(Boolean).map((part, key) => inline(part, key, i === main))}</p>
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
