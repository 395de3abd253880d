// Dialog is the browser's own modal dialog: it keeps focus inside, closes on Escape, and gives focus back.
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { dialog } from '../state/page'
import { text } from '../text.en'
import { Icon } from './Icon'

export function Dialog({ title, onKey, children }: {
  title: string; onKey?(key: string): void; children: ComponentChildren
}) {
  const box = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null
    box.current?.showModal()
    return () => before?.focus()
  }, [])
  const close = () => { dialog.value = '' }
  return (
    <dialog ref={box} aria-labelledby="dialog-title" onClose={close} onKeyDown={event => { if (!event.ctrlKey && !event.metaKey && !event.altKey) onKey?.(event.key) }}
      onClick={event => { if (event.target === box.current) close() }}>
      <div class="inside">
        <div class="split">
          <h2 id="dialog-title">{title}</h2>
          <button class="icon" aria-label={text.lessons.close} onClick={close}><Icon name="close" /></button>
        </div>
        {children}
      </div>
    </dialog>
  )
}
