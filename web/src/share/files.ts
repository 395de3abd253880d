// Files that the user drops on the page or selects in the dialog Share: a scenario, or a dump of a real cluster. The engine parses dumps;
// its package dump knows the formats.
import type { Boot, Op } from '../engine/protocol'
import { dialog, notice, tab } from '../state/page'
import { attached, query } from '../state/session'
import { enter } from '../state/worlds'
import { text } from '../text'
import { mostBytes } from './codec'

/** Dropped is a file, or a folder with files. */
export type Dropped = File | FileSystemDirectoryEntry

interface Named {
  name: string
  file: File
}

const mostOfDump = 32 << 20 // bytes of all files, because the page keeps several copies of them

/** openFiles opens the world that the files describe. If that fails, it shows the reason and leaves the current world unchanged. */
export async function openFiles(dropped: Dropped[]): Promise<void> {
  const [first] = dropped
  if (!first) return
  const words = text.sharing
  dialog.value = ''
  notice.value = words.reading(first.name)
  try {
    const boot = first instanceof File && dropped.length === 1 && /\.(txtar|txt)$/.test(first.name) ? await scenarioOf(first) : await clusterOf(dropped)
    notice.value = ''
    if (await enter(boot)) tab.value = 'console' // where the result of the import is listed
  } catch (error) {
    notice.value = `${words.badFile}: ${(error as Error).message}`
  }
}

async function scenarioOf(file: File): Promise<Boot> {
  if (file.size > mostBytes) throw new Error(text.sharing.tooLarge(file.size, mostBytes))
  return { scenario: await file.text() }
}

async function clusterOf(dropped: Dropped[]): Promise<Boot> {
  const words = text.sharing
  if (attached.value) throw new Error(words.servedImport)
  const files = (await Promise.all(dropped.map(filesOf))).flat()
  const size = files.reduce((sum, { file }) => sum + file.size, 0)
  if (size > mostOfDump) throw new Error(words.tooLarge(size, mostOfDump))
  const sources = await Promise.all(files.map(async ({ name, file }) => ({ name, data: await base64(file) })))
  const { op, controllers } = await query<{ op: Op; controllers: boolean }>('dump', { name: dropped.map(({ name }) => name).join(', '), sources })
  return { log: [op], ...(controllers && { controllers: ['*'] }) }
}

// filesOf returns a file, or all files of a folder sorted by name.
async function filesOf(one: Dropped): Promise<Named[]> {
  if (one instanceof File) return [{ name: one.name, file: one }]
  const found: FileSystemEntry[] = []
  const reader = one.createReader()
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject)) // readEntries returns the entries in several batches
    if (some.length === 0) break
    found.push(...some)
  }
  found.sort((a, b) => (a.fullPath < b.fullPath ? -1 : 1))
  return (await Promise.all(found.map(async entry => {
    if (entry.isDirectory) return filesOf(entry as FileSystemDirectoryEntry)
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject))
    return [{ name: entry.fullPath.slice(1), file }]
  }))).flat()
}

function base64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve((reader.result as string).replace(/^[^,]*,?/, ''))
    reader.onerror = () => reject(reader.error ?? new Error(file.name))
    reader.readAsDataURL(file)
  })
}
