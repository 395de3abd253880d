// Dialog is the browser's own modal dialog: it keeps focus inside, closes on Escape, and gives focus back. The browser
// gives it back in the moment it closes; done after the next render, it would take the focus from where the user has gone
// since.
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { dialog } from '../state/page'
import { text } from '../text'
import { Icon } from './Icon'

export function Dialog({ title, wide = false, onKey, children }: {
  title: string; wide?: boolean; onKey?(key: string): void; children: ComponentChildren
}) {
  const box = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const shown = box.current
    shown?.showModal()
    return () => shown?.close()
  }, [])
  const close = () => { dialog.value = '' }
  // A dialog that another one has replaced is told late, and must not close that one.
  const closed = (event: Event) => { if ((event.currentTarget as HTMLElement).isConnected) close() }
  const pressed = (event: KeyboardEvent) => { if (!event.ctrlKey && !event.metaKey && !event.altKey) onKey?.(event.key) }
  return (
    <dialog ref={box} class={wide ? 'wide' : ''} aria-labelledby="dialog-title" onClose={closed} onKeyDown={pressed}
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
