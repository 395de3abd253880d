// Share is the dialog that exports the world: as a link, as an <iframe>, or as a scenario file, which also runs outside the page.
import { useEffect, useState } from 'preact/hooks'
import { frame } from '../state/embed'
import { ask, head, query, transcript } from '../state/session'
import { text } from '../text'
import { Dialog } from '../ui/Dialog'
import { currentLink, linkLimit } from './link'
import { openFiles } from './files'

const words = text.sharing

export function Share() {
  const [link, setLink] = useState('')
  const [known, setKnown] = useState(false)
  const [hash, setHash] = useState('')
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    void currentLink().then(made => {
      setLink(made)
      setKnown(true)
    })
    void ask<{ hash: string }>('hash', {}).then(answer => setHash(answer.hash), () => setHash(''))
  }, [head.value])
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(link)
      setCopied(true)
    } catch {
      document.querySelector<HTMLInputElement>('#link')?.select()
    }
  }
  return (
    <Dialog title={words.title}>
      <p>{words.about}</p>
      <div class="split">
        <input id="link" class="mono grow" readOnly value={link} aria-label={words.title}
          onFocus={event => event.currentTarget.select()} />
        <button class="primary" onClick={() => void copy()}>{copied ? words.copied : words.copy}</button>
      </div>
      <p class="hint small" role="status">{known && link === '' ? words.noLink : copied ? words.copied : words.size(link.length)}{link.length > linkLimit && ` ${words.long}`}</p>
      <label><span>{words.embed}</span>
        <textarea id="embed" class="mono" rows={3} readOnly value={link && frame(link, transcript.value.at(-1)?.line ?? '')}
          onFocus={event => event.currentTarget.select()} />
      </label>
      <div class="split">
        <button onClick={() => void save()}>{words.file}</button>
        <label class="file"><span>{words.load}</span>
          <input type="file" multiple onChange={event => void openFiles([...(event.currentTarget.files ?? [])])} />
        </label>
      </div>
      <p class="hint small">{words.goTest}</p>
      <p class="hint small">{words.hash} <code id="hash">{hash}</code></p>
    </Dialog>
  )
}

async function save(): Promise<void> {
  const { txtar } = await query<{ txtar: string }>('export')
  const url = URL.createObjectURL(new Blob([txtar], { type: 'text/plain' }))
  const anchor = document.createElement('a')
  anchor.href = url
  anchor.download = 'scenario.txtar'
  anchor.click()
  URL.revokeObjectURL(url)
}
