// Bar is the top of the page: title, the engine's state, and buttons for lessons, stories, sharing and keys.
import { expected, manifest, received } from '../engine/files'
import { choose, language, languages, type Language } from '../language'
import { readCatalogue } from '../lessons/progress'
import { dialog, notice, theme, type Theme } from '../state/page'
import { user, wanted } from '../served/token'
import { attached, ready, sendLessonTexts, status, version } from '../state/session'
import { text } from '../text'

const themes: Theme[] = ['auto', 'light', 'dark']

export function Bar() {
  return (
    <header class="bar">
      <h1>{text.title}</h1>
      <p class="tagline">{text.tagline}</p>
      <Progress />
      <nav aria-label={text.title}>
        <button onClick={() => { dialog.value = 'lessons' }}>{text.head.lessons}</button>
        <button onClick={() => { dialog.value = 'stories' }}>{text.head.stories}</button>
        <button onClick={() => { dialog.value = 'share' }}>{text.head.share}</button>
        <button onClick={() => { dialog.value = 'keys' }}>{text.head.keys} <kbd>?</kbd></button>
        <select id="language" aria-label={text.head.language} value={language.value} onChange={event => void change(event.currentTarget.value as Language)}>
          {Object.entries(languages).map(([name, itself]) => <option key={name} value={name} lang={name}>{itself}</option>)}
        </select>
        <select aria-label={text.head.theme} value={theme.value} onChange={event => { theme.value = event.currentTarget.value as Theme }}>
          {themes.map(name => <option key={name} value={name}>{text.head.themes[name]}</option>)}
        </select>
      </nav>
    </header>
  )
}

// change switches the language: the page at once, the lessons after the engine's answer. The focus returns to the menu, which has been
// rendered again.
async function change(next: Language): Promise<void> {
  try {
    await choose(next)
    requestAnimationFrame(() => document.getElementById('language')?.focus())
    if (!ready.value || attached.value) return
    await sendLessonTexts()
    await readCatalogue()
  } catch (error) {
    notice.value = (error as Error).message
  }
}

// Progress shows how much of the engine has arrived. Its total size is known at build time.
function Progress() {
  const now = status.value
  if (!manifest) return <p class="engine bad">{text.engine.missing}</p>
  if (now.state === 'ready') return <p class="engine" role="status">{attached.value ? text.served.ready(version.value, user.value) : text.engine.ready(version.value)}</p>
  if (now.state === 'stopped') return <p class="engine bad">{text.engine.stoppedTitle}</p>
  if (wanted.value) return <p class="engine" role="status">{text.served.asks}</p>
  const share = expected ? Math.min(1, received.value / expected) : 0
  return (
    <p class="engine" role="status">
      <span>{now.state === 'recorded' ? text.engine.recorded : text.engine.loading}</span>
      <progress max={1} value={share} aria-label={text.engine.loading} />
      <span class="num">{(received.value / 1e6).toFixed(1)} / {(expected / 1e6).toFixed(1)} MB</span>
    </p>
  )
}
