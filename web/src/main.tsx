// The entry point of the page. It requests the engine's files, renders the page, and boots the engine with the world in the address.
// Without one it boots the opening scenario, whose recording plays while the engine loads.
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
import { bootWith, differs, show, start, status, story } from './state/session'
import { captionsOf } from './state/story'
import { listenBack, opener, opening, opens, readingTime, startFreePlay } from './state/worlds'
import { bringMore, text } from './text'
import { showTimeline } from './timeline/Timeline'
import { App } from './ui/App'
import { drawOnce } from './ui/draw'
import { listen } from './ui/keys'

interface Recording {
  scenario: string
  frames: Frame[]
  timeline: TimelineView
}

// Remove the token from the address first, so that a copied address does not contain it.
takeToken()

// serves reports whether kubesim serve delivers this page, which then shows the served cluster.
const serves = new URLSearchParams(location.search).has('attach')

async function begin(): Promise<void> {
  if (serves && location.hash.length < 2) {
    const { attachServed } = await import('./served/attach')
    return attachServed()
  }
  const shared = takeUnsaved() ?? (location.hash.length > 1 ? await fromAddress(location.hash) : null)
  const recording = embedded ? null : await record()
  if (shared) await start(shared).catch(refused)
  else if (embedded) await (/^k(?:ubectl)?\b/.test(offered) ? startFreePlay() : start({ seed: '1' }))
  else {
    if (recording) play(recording)
    await start(opens(recording?.scenario ?? '')).catch(refused)
    if (differs.value) notice.value = text.engine.mismatch
  }
  performance.mark('answer')
  keepAddress(() => opening.value)
  await readCatalogue()
}

// refused boots an empty world if the engine runs but has refused the requested one, for example because of an invalid log in a link, or a
// lesson that no longer exists.
async function refused(error: Error): Promise<void> {
  if (status.value.state === 'stopped') throw error
  notice.value = `${text.share.badLink}: ${error.message}`
  await bootWith({ seed: '1' })
}

async function fromAddress(hash: string) {
  try {
    const { world, engine } = await unpack(hash)
    const here = manifest?.core.hash.slice(0, engine.length)
    // Links of go test (fake.Explore) have the engine dev, which is not an engine of a page.
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

// record fetches the recording of the opening scenario. It returns null if there is none or it cannot be fetched.
async function record(): Promise<Recording | null> {
  if (!manifest?.trace) return null
  try {
    const recording = (await (await fetch(engineURL(manifest.trace.file))).json()) as Recording
    opener.value = recording.scenario
    story.value = { captions: captionsOf(recording.scenario) }
    return recording
  } catch {
    return null // offline before the first visit has stored the files; the engine will report it
  }
}

// play shows the recorded events one after the other while the engine loads. A run is a pure function of engine, seed and log, so the live
// world has the same frames. If they differ, begin shows a notice.
function play(recording: Recording): void {
  if (status.value.state !== 'loading') return
  show([{ branch: '0', reset: true, frames: recording.frames }])
  showTimeline(recording.timeline)
  rehearse(readingTime)
}

// Page is rendered from scratch when the language changes, because of its key.
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
  host.replaceChildren() // remove the bar that index.html shows before the script runs
  render(<Page />, host)
  listen()
  performance.mark('usable')
  void Promise.all([bringMore(), import('./share/drop')]).catch(() => {}) // offline before the first visit has stored the files
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
