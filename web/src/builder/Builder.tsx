// Builder is the editor of the user's own lessons: the YAML on one side, and on the other the preview for learners or the problems. When
// typing pauses, the engine reads the lesson and runs its solutions. The builder is a chunk of its own.
import { useEffect, useState } from 'preact/hooks'
import type { Editor } from '../editor/editor'
import { TextEditor } from '../editor/TextEditor'
import { draftToEdit, keepDraft, myDraft } from '../lessons/draft'
import { lessonLink } from '../share/link'
import { query, ready, resources } from '../state/session'
import { enter } from '../state/worlds'
import { text } from '../text'
import { language } from '../language'
import { askedAt, wordsAt } from './ask'
import { example } from './example'
import { problemsOf, type Rehearsal } from './problems'
import { Preview } from './Preview'
import { conditions, inWords, templates } from './reference'

const words = text.builder
const pause = 300 // ms without a key press, after which the engine reads the lesson

export default function Builder() {
  const [content, setContent] = useState(() => draftToEdit() || example)
  const [round, setRound] = useState(0) // counts the resets of the editor, by a template or the example
  const [link, setLink] = useState('')
  const mine = draftToEdit() === myDraft() // a lesson from a link replaces the user's own draft only when it is used
  const rehearsal = useRehearsal(content)
  const problems = rehearsal ? problemsOf(content, rehearsal) : []

  const change = (next: string) => {
    setContent(next)
    setLink('')
    if (mine) keepDraft(next)
  }
  const [editor, setEditor] = useState<Editor | null>(null)
  const begin = (lesson = example) => {
    change(lesson)
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
  const usable = rehearsal !== null && !rehearsal.fault
  return (
    <>
      <p>{words.about} <a href={`${__SOURCE__}/blob/main/sim/lesson/README.md`}>{words.guide}</a></p>
      <div class="builder">
        <div class="editing">
          <TextEditor key={round} value={content} label={words.manifest} problems={problems} onChange={change} onSubmit={take}
            onEditor={setEditor} />
          <Suggestions content={content} editor={editor} />
          <p class="hint small">{text.objects.escape}</p>
          <Reference editor={editor} />
        </div>
        <section aria-label={words.preview}>
          <div role="status" class="verdict">
            {!rehearsal ? <p class="hint">{words.loading}</p> : problems.map(({ line, text: what }) => <p key={what} class="bad">{words.wrong(line, what)}</p>)}
            {rehearsal && problems.length === 0 && <p><b>{words.solvable(rehearsal.steps?.length ?? 0)}</b></p>}
          </div>
          {rehearsal?.steps && <Preview rehearsal={rehearsal} />}
        </section>
      </div>
      <p class="split">
        <button class="primary" aria-disabled={!usable} onClick={() => { if (usable) take() }}>{words.take}</button>
        <button aria-disabled={!usable} onClick={() => { if (usable) void share() }}>{words.copy}</button>
        <Templates onChoose={begin} />
        <button class="quiet" onClick={() => begin()}>{words.example}</button>
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

// useRehearsal returns the engine's check of a lesson, or null before the first answer.
function useRehearsal(own: string): Rehearsal | null {
  const [rehearsal, setRehearsal] = useState<Rehearsal | null>(null)
  useEffect(() => {
    let current = true
    const read = () => query<Rehearsal>('rehearse', { own }).then(
      answer => { if (current) setRehearsal(answer) },
      (error: Error) => { if (current) setRehearsal({ fault: { text: error.message, path: '' } }) },
    )
    const timer = setTimeout(() => { if (ready.value) void read() }, pause)
    return () => {
      current = false
      clearTimeout(timer)
    }
  }, [own, ready.value])
  return rehearsal
}

const chinese = () => language.value === 'zh-CN'

// Templates is the menu of lessons to start from.
function Templates({ onChoose }: { onChoose(lesson: string): void }) {
  return (
    <select aria-label={inWords[language.value].templates} value="" onChange={event => {
      onChoose(templates[Number(event.currentTarget.value)]?.[2] ?? example)
      event.currentTarget.value = ''
    }}>
      <option value="" disabled>{inWords[language.value].templates}</option>
      {templates.map(([name, named], i) => <option key={name} value={String(i)}>{chinese() ? named : name}</option>)}
    </select>
  )
}

interface Suggested { text: string; detail: string; instead: number }
const most = 8 // suggestions that are shown

// Suggestions lists what can be inserted at the cursor: the next word of a condition, or the rest of a command.
function Suggestions({ content, editor }: { content: string; editor: Editor | null }) {
  const [suggestions, setSuggestions] = useState<Suggested[]>([])
  useEffect(() => {
    let current = true
    const timer = setTimeout(() => {
      void suggested(editor?.before() ?? '').catch(() => []).then(items => { if (current) setSuggestions(items) })
    }, pause)
    return () => {
      current = false
      clearTimeout(timer)
    }
  }, [content, editor])
  // The cursor may have moved since they were made: what a suggestion replaces is computed for the text that is there now.
  const insert = async (chosen: string) => {
    const before = editor?.before() ?? ''
    const items = await suggested(before).catch(() => [])
    const item = items.find(one => one.text === chosen)
    if (item && editor?.before() === before) editor.put(item.text, item.instead)
    else setSuggestions(items)
  }
  return (
    <p class="chips suggestions" role="group" aria-label={inWords[language.value].suggestions}>
      {suggestions.slice(0, most).map(item => (
        <button key={item.text} class="mono" title={text.said(item.detail)} onClick={() => void insert(item.text)}>{item.text}</button>
      ))}
    </p>
  )
}

async function suggested(before: string): Promise<Suggested[]> {
  const asked = askedAt(before)
  if (!asked) return []
  const { typed, condition } = asked
  if (condition) {
    const instead = typed.length - typed.lastIndexOf(' ') - 1
    return wordsAt(typed, resources.value.map(one => (one.group ? `${one.resource}.${one.group}` : one.resource))).map(word => ({ text: word, detail: '', instead }))
  }
  if (!ready.value) return []
  const { from, items } = await query<{ from: number; items: { text: string; detail: string }[] }>('complete', { line: typed })
  return (items ?? []).map(item => ({ ...item, instead: typed.length - from }))
}

// Reference lists the forms of conditions. A click inserts one at the cursor.
function Reference({ editor }: { editor: Editor | null }) {
  const said = inWords[language.value]
  return (
    <details class="reference">
      <summary>{said.conditions}</summary>
      <p class="hint small">{said.insert}</p>
      <ul class="plain">
        {conditions.map(([form, english, named]) => (
          <li key={form}><button class="mono quiet" onClick={() => editor?.put(form, 0)}>{form}</button> <span class="hint">{chinese() ? named : english}</span></li>
        ))}
      </ul>
    </details>
  )
}
