// Lessons is the list of all lessons, as a dialog.
import { enterFreePlay, enterLesson } from '../state/worlds'
import { text } from '../text'
import { Dialog } from '../ui/Dialog'
import { Icon } from '../ui/Icon'
import { catalogue, forgetProgress, progress } from './progress'

const words = text.lessons

export function Lessons() {
  const all = catalogue.value
  const done = all.filter(info => progress.value[info.id]?.done).length
  return (
    <Dialog title={words.title}>
      <p class="hint">{words.progress(done, all.length)}</p>
      <ol class="catalogue">
        {all.map(info => {
          const finished = progress.value[info.id]
          return (
            <li key={info.id}>
              <button class="lesson" onClick={() => void enterLesson(info.id)}>
                <span class="tick">{finished?.done && <Icon name="check" />}</span>
                <span>
                  <b>{info.title}</b>
                  <span class="about">{info.about}</span>
                  <span class="hint small">
                    {[words.minutes(info.minutes), words.steps(info.steps), info.engine === 'cel' && words.needsCel,
                      finished?.done && words.done].filter(Boolean).join(' · ')}
                  </span>
                </span>
              </button>
            </li>
          )
        })}
      </ol>
      <p class="split">
        <button onClick={() => void enterFreePlay()}>{text.head.sandbox}</button>
        <button class="quiet" onClick={forgetProgress}>{words.reset}</button>
      </p>
    </Dialog>
  )
}
