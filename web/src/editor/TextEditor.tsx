// TextEditor is a plain text area until the chunk of the editor is loaded, then an editor with syntax colours. Lines with problems are
// marked.
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Editor } from './editor'
import type { Complaint } from './locate'

interface Props {
  /** value is the initial content. */
  value: string
  label: string
  problems: Complaint[]
  onChange(content: string): void
  onSubmit(): void
  /** onEditor receives the editor when it is loaded. */
  onEditor?(editor: Editor): void
}

export function TextEditor({ value, label, problems, onChange, onSubmit, onEditor }: Props) {
  const host = useRef<HTMLDivElement>(null)
  const editor = useRef<Editor | null>(null)
  const content = useRef(value)
  const [loaded, setLoaded] = useState(false)
  const handlers = useRef({ onChange, onSubmit })
  handlers.current = { onChange, onSubmit }
  const change = (next: string) => {
    content.current = next
    handlers.current.onChange(next)
  }

  useEffect(() => {
    let gone = false
    void import('./editor').then(({ mount }) => {
      if (gone || !host.current) return
      editor.current = mount(host.current, { value: content.current, label, onChange: change, onSubmit: () => handlers.current.onSubmit() })
      onEditor?.(editor.current)
      setLoaded(true)
    })
    return () => {
      gone = true
      editor.current?.destroy()
    }
  }, [])
  useEffect(() => editor.current?.complain(problems), [problems, loaded])

  return (
    <>
      <div class="editor" ref={host} />
      {!loaded && (
        <textarea class="mono" rows={14} aria-label={label} spellcheck={false} defaultValue={value}
          onInput={event => change(event.currentTarget.value)} />
      )}
    </>
  )
}
