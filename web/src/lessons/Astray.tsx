// Astray names what the learner did that the step did not ask for, and says when the lesson cannot be finished from here. The ways
// back stand beside it.
import type { Broken, LessonState, Unasked } from '../engine/protocol'
import { head, seek } from '../state/session'
import { text } from '../text'

const words = text.lessons

export function Astray({ state, broken }: { state: LessonState; broken: Broken | null }) {
  const last = state.unasked.at(-1)
  if (!broken && !last) return null
  const to = broken ? broken.n - 1 : (last?.n ?? 1) - 1
  return (
    <div class={broken ? 'note astray broken' : 'note astray'} role="status">
      {broken ? <p><b>{words.broken}</b> <code>{broken.line}</code> {words.inTheWay(broken.step + 1)} <span class="hint">{text.said(broken.why)}</span></p>
        : last && <p>{words.unasked} <code>{last.line}</code> {effects(last)}</p>}
      <p class="chips">
        <button onClick={() => void seek(to)}>{head.value.n - to > 1 ? words.undoTo(head.value.n - to) : words.undo}</button>
        {state.begun < head.value.n && (!broken || broken.n > state.begun) && (
          <button class="quiet" onClick={() => void seek(state.begun)}>{words.restartStep}</button>
        )}
        <button class="quiet" onClick={() => void seek(0)}>{words.restart}</button>
      </p>
    </div>
  )
}

/** effects says what an operation did, in words. */
export function effects(of: Unasked): string {
  return of.effects.map(effect => words.effects[effect.kind](effect.of)).join(', ')
}
