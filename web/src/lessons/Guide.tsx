// Guide is the column at the side: what to do next. In a lesson it is the current step; without one it is a welcome.
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Lesson, LessonState } from '../engine/protocol'
import { dialog, focusCommand } from '../state/page'
import { change, lesson, lessonState, ready, retell } from '../state/session'
import { text } from '../text.en'
import { Icon } from '../ui/Icon'
import { Prose } from './Prose'
import { nextLesson, noteProgress } from './progress'

const words = text.lessons
const answer = signal(-1)

export function Guide() {
  const state = lessonState.value
  const of = lesson.value
  useEffect(() => { if (state) noteProgress(state) }, [state])
  useEffect(() => { answer.value = -1 }, [state?.id, state?.step])
  return (
    <section class="guide" aria-label={words.title} data-lesson={state?.id}>
      {state && of ? <Running of={of} state={state} /> : <Welcome />}
    </section>
  )
}

function Welcome() {
  return (
    <>
      <h2>{text.head.sandbox}</h2>
      <p>{words.free}</p>
      <button class="primary" onClick={() => { dialog.value = 'lessons' }}>{words.title}</button>
    </>
  )
}

function Running({ of, state }: { of: Lesson; state: LessonState }) {
  const step = of.steps[Math.min(state.step, of.steps.length - 1)]
  if (!step) return null
  const waiting = step.predict && !state.predicted[state.step]
  return (
    <>
      <p class="eyebrow">{state.done ? words.finished : words.step(state.step + 1, state.steps)}</p>
      <h2>{of.title}</h2>
      <Dots state={state} />
      {graded(of, state)}
      {state.done ? <><Prose text={of.steps.at(-1)?.text ?? ''} /><Done state={state} /></> : (
        <>
          <Prose text={step.text} lead={!waiting} />
          {step.actions && step.actions.length > 0 && (
            <div class="note"><p class="hint">{words.others}</p><pre>{step.actions.join('\n')}</pre></div>
          )}
          {step.predict && waiting && <Question ask={step.predict.ask} options={step.predict.options} />}
          {step.predict && !waiting && (
            <p class="hint">{words.predict}: {step.predict.options[state.predicted[state.step]?.answer ?? 0]}</p>
          )}
          <Hints state={state} />
        </>
      )}
    </>
  )
}

// graded says how the prediction of the step before came out.
function graded(of: Lesson, state: LessonState) {
  const before = (state.done && state.predicted[state.step] ? state.step : state.step - 1)
  const guess = state.predicted[before]
  const predict = of.steps[before]?.predict
  if (!guess || !predict || guess.right === undefined || guess.answer < 0) return null
  return (
    <p class={guess.right ? 'graded right' : 'graded wrong'} role="status">
      <b>{guess.right ? words.right : words.wrong}</b> {predict.ask}{' '}
      <i>{predict.options[guess.correct ?? guess.answer]}</i>
    </p>
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
          <label key={option} class="option">
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
  const solve = async () => {
    const solved = await change<{ lines: string[] }>('solve')
    if (solved) await retell(solved.lines)
  }
  return (
    <div class="hints">
      {state.hints.map((hint, i) => <Prose key={i} text={hint} />)}
      <p>
        {state.hintsLeft > 0 && <button class="quiet" onClick={() => void change('hint')}>{words.hint}</button>}
        <button class="quiet" aria-disabled={!ready.value} onClick={() => void solve()}>{words.solve}</button>
      </p>
    </div>
  )
}

function Done({ state }: { state: LessonState }) {
  const next = nextLesson(state.id)
  return (
    <div class="done">
      <p>{words.golf(state.golf.yours, state.golf.par)}</p>
      <p class="split">
        {next && <button class="primary" onClick={next.start}>{words.next}: {next.title}</button>}
        <button onClick={() => { dialog.value = 'lessons' }}>{words.title}</button>
      </p>
    </div>
  )
}
