// Builder is where somebody writes a lesson: its YAML at one side, and at the other what a learner sees, or what is wrong. The engine
// reads it and takes it with its own solutions whenever typing pauses. A chunk of its own.
import { useEffect, useState } from 'preact/hooks'
import { TextEditor } from '../editor/TextEditor'
import { draftToEdit, keepDraft, myDraft } from '../lessons/draft'
import { lessonLink } from '../share/link'
import { query, ready } from '../state/session'
import { enter } from '../state/worlds'
import { text } from '../text'
import { example } from './example'
import { problemsOf, type Rehearsal } from './problems'
import { Preview } from './Preview'

const words = text.builder
const pause = 300 // ms without a key after which the engine reads the lesson

export default function Builder() {
  const [content, setContent] = useState(() => draftToEdit() || example)
  const [round, setRound] = useState(0) // counts how often the example was taken again
  const [link, setLink] = useState('')
  const mine = draftToEdit() === myDraft() // a stranger's lesson does not take the place of one's own before it is used
  const told = useRehearsal(content)
  const problems = told ? problemsOf(content, told) : []

  const change = (next: string) => {
    setContent(next)
    setLink('')
    if (mine) keepDraft(next)
  }
  const begin = () => {
    change(example)
    setRound(round + 1)
  }
  const take = () => {
    keepDraft(content)
    void enter({ own: content })
  }
  const share = async () => {
    keepDraft(content)
    const made = await lessonLink(content)
    setLink(made)
    await navigator.clipboard.writeText(made).catch(() => {})
  }
  const usable = told !== null && !told.fault
  return (
    <>
      <p>{words.about} <a href={`${__SOURCE__}/blob/main/sim/lesson/README.md`}>{words.guide}</a></p>
      <div class="builder">
        <div class="editing">
          <TextEditor key={round} value={content} label={words.manifest} problems={problems} onChange={change} onSubmit={take} />
          <p class="hint small">{text.objects.escape}</p>
        </div>
        <section aria-label={words.preview}>
          <div role="status" class="verdict">
            {!told ? <p class="hint">{words.loading}</p> : problems.map(({ line, text: what }) => <p key={what} class="bad">{words.wrong(line, what)}</p>)}
            {told && problems.length === 0 && <p><b>{words.solvable(told.steps?.length ?? 0)}</b></p>}
          </div>
          {told?.steps && <Preview told={told} />}
        </section>
      </div>
      <p class="split">
        <button class="primary" aria-disabled={!usable} onClick={() => { if (usable) take() }}>{words.take}</button>
        <button aria-disabled={!usable} onClick={() => { if (usable) void share() }}>{words.copy}</button>
        <button class="quiet" onClick={begin}>{words.example}</button>
      </p>
      {link && (
        <p class="split" role="status">
          <input id="lesson-link" class="mono grow" readOnly value={link} aria-label={words.link} onFocus={event => event.currentTarget.select()} />
          <span class="hint small">{text.sharing.size(link.length)}</span>
        </p>
      )}
    </>
  )
}

// useRehearsal asks the engine what it thinks of a lesson; null: it has not said yet.
function useRehearsal(own: string): Rehearsal | null {
  const [told, setTold] = useState<Rehearsal | null>(null)
  useEffect(() => {
    let current = true
    const read = () => query<Rehearsal>('rehearse', { own }).then(
      answer => { if (current) setTold(answer) },
      (error: Error) => { if (current) setTold({ fault: { text: error.message, path: '' } }) },
    )
    const timer = setTimeout(() => { if (ready.value) void read() }, pause)
    return () => {
      current = false
      clearTimeout(timer)
    }
  }, [own, ready.value])
  return told
}
