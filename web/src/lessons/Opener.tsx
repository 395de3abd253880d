// Opener is the first thing that somebody sees: what this is, why anybody should care, what it is checked against, and, beside
// the recording that plays, what is happening in it.
import { manifest } from '../engine/files'
import { dialog } from '../state/page'
import { ready } from '../state/session'
import { captions, enterFreePlay, enterLesson } from '../state/worlds'
import { opInView } from '../state/player'
import { text } from '../text'
import { nextLesson } from './progress'


const words = text.opener
const first = 'first' // the lesson to begin with, until the list of lessons is there

// begin takes the first lesson that is not done yet.
function begin(): void {
  const next = nextLesson('')
  if (next) next.start()
  else void enterLesson(first)
}

export function Opener() {
  const told = captions.value[Math.max(0, Math.min(opInView.value, captions.value.length - 1))] ?? words.wait
  return (
    <>
      <h2>{words.what}</h2>
      <p>{words.why}</p>
      {manifest && <p class="hint">{words.checked(__STEPS__, manifest.minor)}</p>}
      <div class="note caption" role="status"><p class="eyebrow">{words.story}</p><p>{words.captions[told] ?? told}</p></div>
      <p class="chips">
        <button class="primary" aria-disabled={!ready.value} onClick={() => { if (ready.value) begin() }}>{words.begin}</button>
        <button onClick={() => { dialog.value = 'lessons' }}>{text.lessons.title}</button>
        <button class="quiet" aria-disabled={!ready.value} onClick={() => { if (ready.value) void enterFreePlay() }}>{text.head.sandbox}</button>
      </p>
      <p class="hint small"><a href={__SOURCE__}>{words.source}</a> · <a href={`${__SOURCE__}#readme`}>{words.docs}</a></p>
    </>
  )
}
