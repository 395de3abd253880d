// Lessons is the dialog with the map of all lessons, level by level, with lines from each lesson to the lessons that build on it. On a
// phone it is a list. The arrow keys move between lessons like Tab.
import { useRef, useState } from 'preact/hooks'
import type { LessonInfo } from '../engine/protocol'
import { dialog } from '../state/page'
import { enterFreePlay, enterLesson } from '../state/worlds'
import { text } from '../text'
import { Dialog } from '../ui/Dialog'
import { Icon } from '../ui/Icon'
import { openBuilder } from './draft'
import { MapLines } from './MapLines'
import { catalogue, forgetProgress, levels, progress } from './progress'
import { placeOf, type Place } from './places'

const words = text.lessons

export function Lessons() {
  const map = useRef<HTMLDivElement>(null)
  const [near, setNear] = useState('')
  const [sure, setSure] = useState(false)
  const all = catalogue.value
  const done = all.filter(info => progress.value[info.id]?.done)
  const look = (event: Event) => setNear((event.target as HTMLElement).closest<HTMLElement>('.lesson')?.dataset['lesson'] ?? '')
  return (
    <Dialog title={words.title} wide>
      <p class="hint">{words.progress(done.length, all.length)}</p>
      <div class="map catalogue" ref={map} role="group" aria-label={text.map.title} onKeyDown={onKey} onFocusIn={look} onPointerOver={look}>
        <MapLines around={map} lessons={all} near={near} />
        {levels.value.map(level => {
          const here = all.filter(info => info.level === level)
          return (
            <section key={level} aria-labelledby={`level-${level}`}>
              <h3 id={`level-${level}`}>{text.levels[level]}{' '}
                <span class="hint small">{text.map.of(here.filter(info => done.includes(info)).length, here.length)}</span></h3>
              <ol>{here.map(info => <li key={info.id}><Card info={info} place={placeOf(info, all, progress.value)} /></li>)}</ol>
            </section>
          )
        })}
      </div>
      <p class="split">
        <button onClick={() => void enterFreePlay()}>{text.head.sandbox}</button>
        <button onClick={() => openBuilder()}>{text.map.write}</button>
        <button onClick={() => { dialog.value = 'course' }}>{text.course.title}</button>
        <button class="quiet" onClick={() => { if (sure) forgetProgress(); setSure(!sure) }}>{sure ? words.reallyReset : words.reset}</button>
      </p>
    </Dialog>
  )
}

function Card({ info, place }: { info: LessonInfo; place: Place }) {
  return (
    <button class={`lesson ${place.state}`} data-lesson={info.id} onClick={() => void enterLesson(info.id)}>
      <span class="tick">{place.state === 'solved' && <Icon name="check" />}</span>
      <span>
        <b>{info.title}</b>
        <span class="about">{info.about}</span>
        <span class="hint small">
          {[words.minutes(info.minutes), words.steps(info.steps), info.engine === 'cel' && words.needsCel,
            place.state === 'solved' && words.done].filter(Boolean).join(' · ')}
        </span>
        {place.needs.length > 0 && <span class="hint small needs">{text.map.buildsOn(place.needs)}</span>}
        <span class="heard">{[text.map[place.state], place.leadsTo.length > 0 && text.map.leadsTo(place.leadsTo)].filter(Boolean).join(', ')}</span>
      </span>
    </button>
  )
}

const steps: Record<string, number> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }

function onKey(event: KeyboardEvent): void {
  const by = steps[event.key]
  if (!by) return
  const cards = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('.lesson')]
  const next = cards[cards.indexOf(event.target as HTMLElement) + by]
  if (!next) return
  event.preventDefault()
  next.focus()
}
