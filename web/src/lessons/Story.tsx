// Story shows the captions of a scenario, such as the recording that the page opens with: one caption for each part, at reading speed. The
// user can step through the parts and replay them. At the end it asks a question.
import { signal } from '@preact/signals'
import { look, rehearse, rehearsing, view } from '../state/player'
import { frames, ready, story } from '../state/session'
import { captionAt, captions, enterLesson, opening, readingTime } from '../state/worlds'
import { text } from '../text'
import { Icon } from '../ui/Icon'
import { catalogue } from './progress'

const words = text.story
const chosen = signal(-1)
const right = 1 // index of the right option of the question
const lesson = 'double' // the lesson that begins with this story

export default function Story() {
  const parts = [...new Set(captions.value)]
  const at = parts.indexOf(captionAt(view.value))
  const last = at === parts.length - 1
  // go shows the last frame of a neighbouring part: the next one for 1, the previous one for -1.
  const go = (by: number) => {
    const part = parts[parts.indexOf(captionAt(view.value)) + by]
    const end = frames.value.findLast(frame => captionAt(frame.n) === part)
    if (end) look(end.n)
  }
  return (
    <>
      <p>{text.opener.captions[parts[at] ?? ''] ?? parts[at] ?? text.opener.wait}</p>
      <p class="steps">
        <button class="icon" aria-label={words.before} aria-disabled={at <= 0} onClick={() => { go(-1) }}><Icon name="back" /></button>
        <span class="num">{words.part(at + 1, parts.length)}</span>
        <button class="icon" aria-label={words.after} aria-disabled={last} onClick={() => { go(1) }}><Icon name="forward" /></button>
        <button class="quiet" onClick={() => (rehearsing.value ? look(view.value) : rehearse(readingTime, last ? 0 : view.value, true))}>
          {rehearsing.value ? words.pause : last ? words.again : words.tell}
        </button>
      </p>
      {last && !rehearsing.value && (opening.value || !ready.value ? <Ask /> : <Prevention />)}
    </>
  )
}

// Prevention asks how to prevent the bug and links to a lesson about it.
function Prevention() {
  const id = story.value?.lesson
  const about = catalogue.value.find(one => one.id === id)
  return (
    <>
      <p><b>{words.mend}</b></p>
      {id && <p><button class="primary" onClick={() => void enterLesson(id)}>{words.think(about?.title ?? id)}</button></p>}
    </>
  )
}

function Ask() {
  // The question and its explanation are at the end of the guide, which scrolls to them.
  return (
    <>
      <p ref={at => { const guide = at?.closest('.guide'); if (guide) guide.scrollTop = guide.scrollHeight }}><b>{words.ask}</b></p>
      <p class="chips">
        {words.options.map((option, i) => (
          <button key={option} aria-pressed={chosen.value === i} onClick={() => { chosen.value = i }}>{option}</button>
        ))}
      </p>
      {chosen.value >= 0 && (
        <>
          <p role="status">{chosen.value === right ? words.right : words.wrong[chosen.value === 0 ? 0 : 1]}</p>
          <p><button class="primary" aria-disabled={!ready.value} onClick={() => { if (ready.value) void enterLesson(lesson) }}>{words.lesson}</button></p>
        </>
      )}
    </>
  )
}
