// Dialog is a native modal dialog: it keeps the focus inside, closes on Escape, and restores the focus. It is closed in the layout effect,
// because closing it after the next render would take the focus away from the element that the user has focused since.
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
  // A replaced dialog gets its close event late and must not close its successor.
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
