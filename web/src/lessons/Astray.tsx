// Astray lists the learner's actions that the step did not ask for. If the lesson's own solution no longer works, it shows since which
// line, why, and which other conditions pass the step. If only the text of a step is no longer true, it shows the condition that the text
// assumes. Beside that are buttons to undo.
import type { Broken, LessonState, Unasked } from '../engine/protocol'
import { head, seek } from '../state/session'
import { text } from '../text'

const words = text.lessons

export function Astray({ state, broken: found }: { state: LessonState; broken: Broken | null }) {
  const last = state.unasked.at(-1)
  if (!found && !last) return null
  const broken = found?.stale ? null : found
  const to = broken ? Math.max(0, broken.n - 1) : (last?.n ?? 1) - 1
  return (
    <div class={broken ? 'note astray broken' : 'note astray'} role="status">
      {broken ? <Way of={broken} />
        : last && <p>{words.unasked} <code>{last.line}</code> {effects(last)}</p>}
      {found?.stale && <p class="hint">{words.assumes(found.step + 1)} {text.said(found.why)}</p>}
      <p class="chips">
        {(!broken || broken.n > 0) && <button onClick={() => void seek(to)}>{head.value.n - to > 1 ? words.undoTo(head.value.n - to) : words.undo}</button>}
        {state.begun < head.value.n && (!broken || broken.n > state.begun) && (
          <button class="quiet" onClick={() => void seek(state.begun)}>{words.restartStep}</button>
        )}
        <button class="quiet" onClick={() => void seek(0)}>{words.restart}</button>
      </p>
    </div>
  )
}

// Way shows why the solution fails, since which line, and what else passes the step.
function Way({ of: { step, why, line, n, check } }: { of: Broken }) {
  return (
    <>
      <p><b>{words.broken(step + 1)}</b> <span class="hint">{text.said(why)}</span></p>
      {n > 0 && <p>{words.since} <code>{line}</code></p>}
      {check.length > 0 && <p class="hint">{words.otherWay} {check.map((condition, i) => <>{i > 0 && ', '}<code>{condition}</code></>)}</p>}
    </>
  )
}

/** effects returns a description of the effects of an operation. */
export function effects(of: Unasked): string {
  return of.effects.map(effect => words.effects[effect.kind](effect.of)).join(', ')
}
