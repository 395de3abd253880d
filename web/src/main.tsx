// The page starts here: the engine's bytes are asked for first, then the page is drawn, then the engine is booted with
// what the address says, or with the scenario of the opening, whose recording plays until the engine is there.
import './styles/base.css'
import './styles/layout.css'
import './styles/timeline.css'
import './styles/parts.css'
import './styles/embed.css'
import { render } from 'preact'
import { compile, engineURL, manifest } from './engine/files'
import type { Frame, TimelineView } from './engine/protocol'
import { language, preferred, speak } from './language'
import { readCatalogue } from './lessons/progress'
import { takeToken } from './served/token'
import { unpack } from './share/codec'
import { keepAddress, takeUnsaved } from './share/link'
import { embedded, offered } from './state/embed'
import { line, notice } from './state/page'
import { rehearse } from './state/player'
import { bootWith, frames, show, start, status, story } from './state/session'
import { captionsOf } from './state/story'
import { listenBack, opener, opening, opens, readingTime } from './state/worlds'
import { bringMore, text } from './text'
import { learn } from './timeline/Timeline'
import { App } from './ui/App'
import { drawOnce } from './ui/draw'
import { listen } from './ui/keys'

interface Recording {
  scenario: string
  frames: Frame[]
  timeline: TimelineView
}

// A token is no part of an address that somebody shares.
takeToken()

// serves says that this page comes from kubesim serve, which has a cluster to show.
const serves = new URLSearchParams(location.search).has('attach')

async function begin(): Promise<void> {
  if (serves && location.hash.length < 2) {
    const { attachServed } = await import('./served/attach')
    return attachServed()
  }
  const shared = takeUnsaved() ?? (location.hash.length > 1 ? await fromAddress(location.hash) : null)
  const recording = embedded ? null : await record()
  if (shared) await start(shared).catch(refused)
  else if (embedded) await start({ seed: '1' })
  else {
    if (recording) play(recording)
    await start(opens(recording?.scenario ?? '')).catch(refused)
    if (recording && JSON.stringify(frames.value) !== JSON.stringify(recording.frames)) notice.value = text.engine.mismatch
  }
  performance.mark('answer')
  keepAddress(() => opening.value)
  await readCatalogue()
}

// refused goes on with an empty world when the engine runs, and refused this one: a link with a log that makes no sense, or a
// lesson that is gone.
async function refused(error: Error): Promise<void> {
  if (status.value.state === 'stopped') throw error
  notice.value = `${text.share.badLink}: ${error.message}`
  await bootWith({ seed: '1' })
}

async function fromAddress(hash: string) {
  try {
    const { world, engine } = await unpack(hash)
    const here = manifest?.core.hash.slice(0, engine.length)
    // Links of go test (fake.Explore) say dev: they are of no engine of a page.
    if (engine !== 'dev' && engine !== 'any' && engine !== here && engine !== manifest?.cel.hash.slice(0, engine.length)) notice.value = text.share.otherEngine
    if (!world.course) return world
    history.replaceState(null, '', location.pathname)
    ;(await import('./teach/course')).join(world.course)
    return null
  } catch (error) {
    notice.value = `${text.share.badLink}: ${(error as Error).message}`
    return null
  }
}

// record fetches the recording of the scenario with which the page opens.
async function record(): Promise<Recording | null> {
  if (!manifest?.trace) return null
  try {
    const recording = (await (await fetch(engineURL(manifest.trace.file))).json()) as Recording
    opener.value = recording.scenario
    story.value = { captions: captionsOf(recording.scenario) }
    return recording
  } catch {
    return null // offline, before the first visit was over: the engine will say so
  }
}

// play shows what is recorded, one event after the other, before the engine is there. A run is a pure function of engine, seed
// and log, so the live world that takes over has the same frames; where it has not, the page says so.
function play(recording: Recording): void {
  if (status.value.state !== 'loading') return
  show([{ branch: '0', reset: true, frames: recording.frames }])
  learn(recording.timeline)
  rehearse(readingTime)
}

// Page is drawn anew in another language.
function Page() {
  return <App key={language.value} />
}

async function open(): Promise<void> {
  if (embedded) {
    document.documentElement.classList.add('embed')
    line.value = offered
  }
  await speak(preferred()).catch(() => speak('en'))
  drawOnce()
  const host = document.getElementById('app') as HTMLElement
  host.replaceChildren() // the bar that is painted before this program is there
  render(<Page />, host)
  listen()
  performance.mark('usable')
  void Promise.all([bringMore(), import('./share/drop')]).catch(() => {}) // offline, before the first visit was over
  listenBack()
  await begin()
}

if (!serves) void compile('core').catch(() => {})
open().catch((error: Error) => {
  if (status.value.state !== 'stopped') status.value = { state: 'stopped', text: error.message }
})

if ('serviceWorker' in navigator && location.protocol.startsWith('http')) {
  navigator.serviceWorker.addEventListener('message', ({ data, ports: [port] }) => {
    if (port && data?.asked) import('./wire/answer').then(({ answer }) => answer(data.asked, port), () => port.postMessage({ pass: true }))
  })
  navigator.serviceWorker.register(new URL('sw.js', document.baseURI)).then(registration => {
    registration?.addEventListener('updatefound', () => {
      if (navigator.serviceWorker.controller) notice.value = text.offline
    })
  }, () => {})
}
