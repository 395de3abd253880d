// Files that are dropped anywhere on the page are opened (files.ts), except on the editor, which inserts them as text.
import type { Dropped } from './files'

const carriesFiles = (event: DragEvent) => !event.defaultPrevented && (event.dataTransfer?.types.includes('Files') ?? false)

function droppedIn(item: DataTransferItem): Dropped | null {
  const entry = item.webkitGetAsEntry()
  return entry?.isDirectory ? (entry as FileSystemDirectoryEntry) : item.getAsFile()
}

/** listenDrop opens files that are dropped from now on. */
export function listenDrop(): void {
  addEventListener('dragover', event => {
    if (carriesFiles(event)) event.preventDefault()
  })
  addEventListener('drop', event => {
    if (!carriesFiles(event)) return
    event.preventDefault()
    const dropped = [...(event.dataTransfer?.items ?? [])].map(droppedIn).filter(one => one !== null) // now: later it is empty
    void import('./files').then(({ openFiles }) => openFiles(dropped))
  })
}
