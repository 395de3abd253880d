// Importing this module makes the page open files (files.ts) that are dropped anywhere on it, except on the editor, which inserts them as
// text.
import { openFiles, type Dropped } from './files'

const carriesFiles = (event: DragEvent) => !event.defaultPrevented && (event.dataTransfer?.types.includes('Files') ?? false)

function droppedIn(item: DataTransferItem): Dropped | null {
  const entry = item.webkitGetAsEntry()
  return entry?.isDirectory ? (entry as FileSystemDirectoryEntry) : item.getAsFile()
}

addEventListener('dragover', event => {
  if (carriesFiles(event)) event.preventDefault()
})
addEventListener('drop', event => {
  if (!carriesFiles(event)) return
  event.preventDefault()
  void openFiles([...(event.dataTransfer?.items ?? [])].map(droppedIn).filter(one => one !== null))
})
