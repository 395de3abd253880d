// The page starts here: the engine's bytes are asked for first, then the page is drawn, then the engine is booted with
// what the address says, or with the opening lesson, whose recording plays until the engine is there.
import './styles/base.css'
import './styles/layout.css'
import './styles/timeline.css'
import './styles/parts.css'
import { render } from 'preact'
import type { FramesMessage } from './engine/engine'
import { compile, engineURL, manifest } from './engine/files'
import type { Frame, Lesson, LessonInfo, LessonState, TimelineView } from './engine/protocol'
import { catalogue } from './lessons/progress'
import { unpack } from './share/codec'
import { keepAddress } from './share/link'
import { notice } from './state/page'
import { bootWith, frames, lesson, lessonState, query, show, start, status } from './state/session'
import { text } from './text.en'
import { learn } from './timeline/Timeline'
import { App } from './ui/App'
import { listen } from './ui/keys'

const opening = 'first'

async function open(): Promise<void> {
  const shared = location.hash.length > 1 ? await fromAddress(location.hash) : null
  if (!shared) void playRecording()
  try {
    await start(shared ?? { lesson: opening })
  } catch (error) {
    // The engine runs, and refused this world: a link with a log that makes no sense, or a lesson that is gone.
    if (status.value.state === 'stopped') throw error
    notice.value = `${text.share.badLink}: ${(error as Error).message}`
    await bootWith({ seed: '1' })
  }
  performance.mark('answer')
  keepAddress()
  catalogue.value = (await query<{ lessons: LessonInfo[] }>('lessons')).lessons ?? []
}

async function fromAddress(hash: string) {
  try {
    const { world, engine } = await unpack(hash)
    const here = manifest?.core.hash.slice(0, engine.length)
    if (engine !== here && engine !== manifest?.cel.hash.slice(0, engine.length)) notice.value = text.share.otherEngine
    return world
  } catch (error) {
    notice.value = `${text.share.badLink}: ${(error as Error).message}`
    return null
  }
}

interface Recording {
  messages: ({ kind: string; lesson?: LessonState; view?: string; data?: unknown } & FramesMessage)[]
}

// playRecording shows the opening seconds before the engine is there. A run is a pure function of engine, seed and
// log, so the live world that takes over has the same frames; where it has not, the page says so.
async function playRecording(): Promise<void> {
  if (!manifest?.trace) return
  const answer = await fetch(engineURL(manifest.trace.file))
  if (!answer.ok || status.value.state !== 'loading') return
  const { messages } = (await answer.json()) as Recording
  if (status.value.state !== 'loading') return
  show(messages.filter(message => message.kind === 'frames'))
  lessonState.value = messages.findLast(message => message.lesson)?.lesson ?? null
  const told = (view: string) => messages.find(message => message.view === view)?.data ?? null
  lesson.value = told('lesson') as Lesson | null
  const lanes = told('timeline') as TimelineView | null
  if (lanes) learn(lanes)
  recorded = frames.value
}

let recorded: Frame[] = []

function compareRecording(): void {
  const same = JSON.stringify(frames.value.slice(0, recorded.length)) === JSON.stringify(recorded)
  if (!same) notice.value = text.engine.mismatch
}

void compile('core').catch(() => {})
render(<App />, document.getElementById('app')!)
listen()
performance.mark('usable')
open().then(compareRecording, (error: Error) => {
  if (status.value.state !== 'stopped') status.value = { state: 'stopped', text: error.message }
})

if ('serviceWorker' in navigator && location.protocol.startsWith('http')) {
  navigator.serviceWorker.register(new URL('sw.js', document.baseURI)).then(registration => {
    registration?.addEventListener('updatefound', () => {
      if (navigator.serviceWorker.controller) notice.value = text.offline
    })
  }, () => {})
}
