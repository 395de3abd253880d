// App is the page: the bar, the guide at the side, the timeline, and below it a workspace of tabs.
import { CommandLine } from '../console/CommandLine'
import { Console } from '../console/Transcript'
import { Guide } from '../lessons/Guide'
import { drawer, toggleDrawer } from '../state/drawer'
import { embedded, whole } from '../state/embed'
import { dialog, notice, tab } from '../state/page'
import { recover, status } from '../state/session'
import { text } from '../text'
import { Timeline } from '../timeline/Timeline'
import { Bar } from './Bar'
import { Handle } from './Handle'
import { later } from './later'
import { panels, tabs } from './panels'

const Dialogs = later(() => import('./Dialogs'))

export function App() {
  if (embedded) return <Embedded />
  return (
    <>
      <a class="skip" href="#command">{text.skipToCommand}</a>
      <Bar />
      <Stopped />
      {notice.value && (
        <p class="banner" role="status">{notice.value} <button class="quiet" onClick={() => { notice.value = '' }}>{text.lessons.close}</button></p>
      )}
      <main>
        <Guide />
        <div class="stage">
          <Timeline />
          <Handle />
          <Workspace />
        </div>
      </main>
      {dialog.value && <Dialogs key={dialog.value} />}
    </>
  )
}

// Embedded is the page in an <iframe> of an article.
function Embedded() {
  const open = (event: Event & { currentTarget: HTMLAnchorElement }) => { event.currentTarget.href = whole() }
  return (
    <>
      <Stopped />
      <main>
        <div class="stage">
          <h1 class="heard">{text.title}</h1>
          <section class="workspace" aria-label={text.tabs.console}><Console /><CommandLine /></section>
          <Timeline />
          <a class="whole" href={whole()} target="_blank" rel="noopener" onPointerDown={open} onFocus={open}>{text.whole}</a>
        </div>
      </main>
    </>
  )
}

function Stopped() {
  const now = status.value
  if (now.state !== 'stopped') return null
  const words = text.engine
  return (
    <div class="banner stopped" role="alert">
      <p><b>{words.stoppedTitle}.</b> {words.stopped} <span class="mono small">{now.text}</span></p>
      <p class="chips">
        <button class="primary" onClick={() => void recover()}>{words.restart}</button>
        <button onClick={() => void recover(true)}>{words.restartWithout}</button>
      </p>
    </div>
  )
}

// inspects are the panels that have an inspector.
const inspects = ['console', 'actors', 'log']

function Workspace() {
  const Panel = panels[tab.value]
  const onKey = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (!by) return
    const next = tabs[(tabs.indexOf(tab.value) + by + tabs.length) % tabs.length] as typeof tab.value
    tab.value = next
    document.getElementById(`tab-${next}`)?.focus()
  }
  return (
    <section class="workspace">
      <div class="tabs">
        <div role="tablist" onKeyDown={onKey} aria-label={text.title}>
          {tabs.map(name => (
            <button key={name} id={`tab-${name}`} role="tab" aria-selected={tab.value === name} aria-controls="panel"
              tabIndex={tab.value === name ? 0 : -1} onClick={() => { tab.value = name }}>{text.tabs[name]}</button>
          ))}
        </div>
        {inspects.includes(tab.value) && (
          <button class="details" aria-pressed={drawer.value} onClick={toggleDrawer}>{text.inspector.title}</button>
        )}
      </div>
      <div id="panel" role="tabpanel" aria-labelledby={`tab-${tab.value}`} class="panel">
        <Panel />
      </div>
      <CommandLine />
    </section>
  )
}
