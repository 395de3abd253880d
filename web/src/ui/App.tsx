// App is the page: a bar, the guide at the side, the timeline, and a workspace of tabs under it.
import { CommandLine } from '../console/CommandLine'
import { Console } from '../console/Transcript'
import { Guide } from '../lessons/Guide'
import { embedded, whole } from '../state/embed'
import { dialog, notice, tab, type Tab } from '../state/page'
import { recover, status } from '../state/session'
import { text } from '../text'
import { TextLog, Timeline } from '../timeline/Timeline'
import { Bar } from './Bar'
import { Inspector } from './Inspector'
import { later } from './later'

const Actors = later(() => import('../actors/Actors'))
const Objects = later(() => import('../objects/Objects'))
const RawRequest = later(() => import('../console/RawRequest'))
const Dialogs = later(() => import('./Dialogs'))

const order: Tab[] = ['console', 'objects', 'http', 'actors', 'log']

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
          <CommandLine />
          <Workspace />
        </div>
      </main>
      {dialog.value && <Dialogs key={dialog.value} />}
    </>
  )
}

// Embedded is the page in an article.
function Embedded() {
  const open = (event: Event & { currentTarget: HTMLAnchorElement }) => { event.currentTarget.href = whole() }
  return (
    <>
      <Stopped />
      <main>
        <div class="stage">
          <h1 class="heard">{text.title}</h1>
          <CommandLine />
          <Timeline />
          <section class="workspace" aria-label={text.tabs.console}><Console /></section>
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

function Workspace() {
  const choose = (name: Tab) => { tab.value = name }
  const onKey = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (!by) return
    const next = order[(order.indexOf(tab.value) + by + order.length) % order.length] as Tab
    choose(next)
    document.getElementById(`tab-${next}`)?.focus()
  }
  return (
    <section class="workspace">
      <div role="tablist" class="tabs" onKeyDown={onKey} aria-label={text.title}>
        {order.map(name => (
          <button key={name} id={`tab-${name}`} role="tab" aria-selected={tab.value === name} aria-controls="panel"
            tabIndex={tab.value === name ? 0 : -1} onClick={() => choose(name)}>{text.tabs[name]}</button>
        ))}
      </div>
      <div id="panel" role="tabpanel" aria-labelledby={`tab-${tab.value}`} class={`panel ${tab.value}`}>
        <Panel />
      </div>
    </section>
  )
}

function Panel() {
  switch (tab.value) {
    case 'objects': return <Objects />
    case 'http': return <RawRequest />
    case 'actors': return <div class="two"><Actors /><Inspector /></div>
    case 'log': return <div class="two"><TextLog /><Inspector /></div>
    default: return <div class="two"><Console /><Inspector /></div>
  }
}
