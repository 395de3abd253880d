// ManifestEditor edits one manifest and sends it. It shows the server's errors at the lines that they refer to.
import { useRef, useState } from 'preact/hooks'
import type { Result } from '../engine/protocol'
import { complaints, type Complaint } from '../editor/locate'
import { TextEditor } from '../editor/TextEditor'
import { ready, run, transcript } from '../state/session'
import { text } from '../text'

interface Props {
  value: string
  of?: { resource: string; ns: string; name: string }
  file?: string
  onChange?(content: string): void
  /** onSent is called after the server has accepted the manifest. */
  onSent?(): void
}

const words = text.objects

export function ManifestEditor({ value, of, file = 'manifest.yaml', onChange, onSent }: Props) {
  const content = useRef(value)
  const [problems, setProblems] = useState<Complaint[]>([])
  const [said, setSaid] = useState('')

  const change = (next: string) => {
    content.current = next
    onChange?.(next)
  }
  const send = async (verb: string, flags = '') => {
    if (!ready.value) return
    const space = of?.ns ? ` -n ${of.ns}` : ''
    const result = await run(`${verb} -f ${file}${space}${flags}`, { [file]: content.current })
    const found = problemsOf(content.current, result)
    const rehearsed = flags.includes('--dry-run')
    setProblems(found)
    setSaid(found.length === 0 ? (rehearsed ? words.checked : words.sent) : '')
    if (found.length === 0 && !rehearsed) onSent?.()
  }

  return (
    <div class="editing">
      <TextEditor value={value} label={words.editor} problems={problems} onChange={change}
        onSubmit={() => void send(of ? 'replace' : 'create')} />
      <div class="split">
        {of ? <button class="primary" onClick={() => void send('replace')}>{words.replace}</button>
          : <button class="primary" onClick={() => void send('create')}>{words.create}</button>}
        <button onClick={() => void send('apply')}>{words.apply}</button>
        <button onClick={() => void send(of ? 'replace' : 'create', ' --dry-run --validate=Strict')}>{words.check}</button>
        {of && <button onClick={() => void run(`delete ${of.resource} ${of.name}${of.ns ? ` -n ${of.ns}` : ''}`)}>{words.remove}</button>}
        <span class="hint small push">{words.escape}</span>
      </div>
      <div role="status">
        {said && <p>{said}</p>}
        {problems.map((problem, i) => (
          <p key={i} class="bad">{problem.line > 0 && <b>{problem.line}: </b>}{problem.text}</p>
        ))}
      </div>
    </div>
  )
}

/** problemsOf returns all problems of a request: the engine's refusal, a failed expectation, and the errors and warnings of the server. */
export function problemsOf(manifest: string, result: Result | null): Complaint[] {
  if (!result) return [{ line: 0, text: transcript.value.at(-1)?.error ?? words.refused }]
  const found = complaints(manifest, statusOf(result))
  const warnings = (result.http?.res?.headers ?? []).filter(([name]) => name.toLowerCase() === 'warning')
  for (const [, value] of warnings) found.push(...complaints(manifest, { message: /"(.*)"/.exec(value)?.[1]?.replaceAll('\\"', '"') ?? value }))
  if (found.length === 0 && !result.ok) found.push({ line: 0, text: result.text ?? words.refused })
  return found
}

// statusOf returns the Status of a refused request, or null if the server accepted it.
function statusOf(result: Result): unknown {
  const res = result.http?.res
  if (!res || res.code < 400 || res.encoding) return null
  try {
    return JSON.parse(res.body)
  } catch {
    return { message: res.body }
  }
}
