// Guide is the column at the side that shows what to do next: the current step of a lesson, a story, or a welcome.
import type { FunctionComponent } from 'preact'
import { dialog } from '../state/page'
import { attached, lesson, lessonState, ready, story, version } from '../state/session'
import { opening } from '../state/worlds'
import { user, wanted } from '../served/token'
import { later } from '../ui/later'
import { text } from '../text'
import { Opener } from './Opener'

const TokenForm = later(() => import('../served/TokenForm'))
const Running = later(() => import('./Running'))
const Situations = later(async () => ({ default: (await import('../ui/Dialogs')).SituationList as FunctionComponent }))
const InStory = later(() => import('./InStory'))
const words = text.lessons

export function Guide() {
  const taken = lessonState.value && lesson.value
  return (
    <section class="guide" aria-label={words.title} data-lesson={lessonState.value?.id}>
      {wanted.value ? <TokenForm /> : taken ? <Running /> : opening.value || !ready.value ? <Opener /> : story.value?.about ? <InStory /> : <Welcome />}
    </section>
  )
}

function Welcome() {
  if (attached.value) {
    return (
      <>
        <h2>{text.served.title}</h2>
        <p>{text.served.about}</p>
        {user.value && <p><button class="quiet" onClick={() => { wanted.value = text.served.ready(version.value, user.value) }}>{text.served.another}</button></p>}
        <p><a href="?own">{text.served.own}</a></p>
      </>
    )
  }
  return (
    <>
      <h2>{text.head.sandbox}</h2>
      <p>{words.free}</p>
      <button class="primary" onClick={() => { dialog.value = 'lessons' }}>{words.title}</button>
      <Situations />
    </>
  )
}

