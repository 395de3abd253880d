// Running shows the current lesson in the guide: the step, unexpected changes, its question, its hints, and its end.
import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { Broken, Lesson, LessonState } from '../engine/protocol'
import { dialog, focusCommand } from '../state/page'
import { bootBody, change, head, lesson, lessonState, query, ready, solve } from '../state/session'
import { moment } from '../state/player'
import { text } from '../text'
import { Icon } from '../ui/Icon'
import { Astray } from './Astray'
import { myDraft, openBuilder } from './draft'
import { Prose } from './Prose'
import { begin, noteWork, placeInCourse, work } from '../teach/course'
import { nextLesson, noteProgress } from './progress'
import { runnable } from './runnable'

const words = text.lessons
const answer = signal(-1)

export default function InGuide() {
  const now = lessonState.value
  const state = useInView(now)
  const of = lesson.value
  useEffect(() => {
    if (!now) return
    noteProgress(now)
    noteWork(now)
  }, [now])
  useEffect(() => { answer.value = -1 }, [state?.id, state?.step])
  return state && of ? <Running of={of} state={state} /> : null
}

const before = signal<LessonState | null>(null)

// useInView returns the lesson's state at the frame in view.
function useInView(now: LessonState | null): LessonState | null {
  const { n } = moment.value
  useEffect(() => {
    before.value = null
    if (n === undefined || !now) return
    let current = true
    query<LessonState | null>('progress', { n }).then(state => { if (current) before.value = state }, () => {})
    return () => { current = false }
  }, [n, now])
  return n === undefined ? now : (before.value ?? now)
}

const narrow = '(max-width: 900px)' // up to this width the guide is above the timeline (layout.css)

// useArrival announces a new step to screen readers and focuses its title, unless the user is typing. If the page is one column, it also
// scrolls the title into view.
function useArrival(state: LessonState) {
  const title = useRef<HTMLHeadingElement>(null)
  const before = useRef(`${state.id}/${state.step}`)
  useEffect(() => {
    const now = `${state.id}/${state.step}`
    if (before.current === now || state !== lessonState.value) return
    before.current = now
    if (document.activeElement?.id !== 'command' || matchMedia(narrow).matches) title.current?.focus({ preventScroll: true })
    if (matchMedia(narrow).matches) title.current?.scrollIntoView({ block: 'start' })
  }, [state.id, state.step])
  return title
}

function Running({ of, state }: { of: Lesson; state: LessonState }) {
  const title = useArrival(state)
  const inTheWay = useBroken(state)
  const step = of.steps[state.step]
  const waiting = state.state === 'predict'
  const past = state !== lessonState.value
  return (
    <>
      {past && <p class="hint">{words.before}</p>}
      <p class="eyebrow">{state.done ? words.finished : words.step(state.step + 1, state.steps)}</p>
      <h2 ref={title} tabIndex={-1}>{of.title}</h2>
      <p class="heard" role="status">{state.done ? words.finished : words.arrived(state.step + 1, state.steps, state.text)}</p>
      {state.own && <Origin />}
      <Dots state={state} />
      <Graded state={state} />
      <Prose text={state.text} lead={!waiting} />
      {!state.done && !past && <Astray state={state} broken={inTheWay} />}
      {state.done ? <Done state={state} /> : (
        <>
          {step?.actions && step.actions.length > 0 && (
            <div class="note"><p class="hint">{words.others}</p><pre tabIndex={0}>{step.actions.join('\n')}</pre></div>
          )}
          {waiting && !past && <Question ask={state.ask ?? ''} options={state.options} />}
          {state.ask && !waiting && (
            <p class="hint">{words.predict}: {state.options[state.predicted[state.step]?.answer ?? 0]}</p>
          )}
          {!past && <Hints state={state} />}
        </>
      )}
    </>
  )
}

// Origin names the author of the lesson, which may be any user.
function Origin() {
  const own = bootBody().own ?? ''
  const mine = own === myDraft()
  return (
    <div class="note" role="note">
      <p>{mine ? text.builder.yours : text.builder.stranger}</p>
      <button class="quiet" onClick={() => openBuilder(own)}>{mine ? text.builder.edit : text.builder.look}</button>
    </div>
  )
}

const broken = signal<Broken | null>(null)

// useBroken queries after each change whether the lesson can still be finished.
function useBroken(state: LessonState): Broken | null {
  useEffect(() => {
    let current = true
    if (state !== lessonState.value) return
    if (state.unasked.length === 0 && state.begun === head.value.n) broken.value = null
    else if (ready.value) {
      query<{ broken: Broken | null } | null>('broken').then(
        reply => { if (current) broken.value = reply?.broken ?? null },
        () => { if (current) broken.value = null },
      )
    }
    return () => { current = false }
  }, [state, ready.value])
  return broken.value
}

// Graded shows whether the prediction of the previous step was right, and if not, why.
function Graded({ state: { graded } }: { state: LessonState }) {
  if (!graded) return null
  return (
    <div class={graded.right ? 'graded right' : 'graded wrong'} role="status">
      <p><b>{graded.right ? words.right : words.wrong}</b> {graded.ask} <i>{graded.correct}</i></p>
      {graded.why && <p>{graded.why}</p>}
    </div>
  )
}

function Dots({ state }: { state: LessonState }) {
  return (
    <ol class="dots" aria-label={words.step(state.step + 1, state.steps)}>
      {Array.from({ length: state.steps }, (_, i) => (
        <li key={i} class={state.done || i < state.step ? 'passed' : i === state.step ? 'now' : ''}>{(state.done || i < state.step) && <Icon name="check" />}</li>
      ))}
    </ol>
  )
}

function Question({ ask, options }: { ask: string; options: string[] }) {
  return (
    <form class="question" onSubmit={event => {
      event.preventDefault()
      if (answer.value >= 0) void change('predict', { answer: answer.value }).then(() => focusCommand())
    }}>
      <fieldset>
        <legend>{ask}</legend>
        {options.map((option, i) => (
          <label key={i} class="option">
            <input type="radio" name="predict" checked={answer.value === i} onChange={() => { answer.value = i }} />
            <span>{option}</span>
          </label>
        ))}
      </fieldset>
      <button type="submit" class="primary" aria-disabled={answer.value < 0}>{words.commit}</button>
    </form>
  )
}

function Hints({ state }: { state: LessonState }) {
  return (
    <div class="hints">
      {state.hints.map((hint, i) => <Prose key={i} text={i > 0 && runnable(hint) ? `\`${hint}\`` : hint} />)}
      <p>
        {state.hintsLeft > 0 && <button class="quiet more" onClick={() => void change('hint')}>{words.hint}</button>}
        <button class="quiet" aria-disabled={!ready.value} onClick={() => void solve()}>{words.solve}</button>
      </p>
    </div>
  )
}

function Done({ state }: { state: LessonState }) {
  const inCourse = placeInCourse() >= 0 && work.value
  const left = inCourse ? inCourse.done.findIndex((taken, i) => !taken && i !== placeInCourse()) : -1
  const next = inCourse ? null : nextLesson(state.id)
  return (
    <div class="done">
      <p>{words.golf(state.golf.yours, state.golf.par, state.golf.solution)}</p>
      <p class="split">
        {inCourse && left >= 0 && <button class="primary" onClick={() => begin(left)}>{text.course.next}</button>}
        {inCourse && <button class={left < 0 ? 'primary' : ''} onClick={() => { dialog.value = 'course' }}>{inCourse.course.title}</button>}
        {next && <button class="primary" onClick={next.start}>{words.next}: {next.title}</button>}
        <button onClick={() => { dialog.value = 'lessons' }}>{words.title}</button>
      </p>
    </div>
  )
}
