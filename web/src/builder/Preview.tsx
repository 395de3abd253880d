// Preview shows the steps of a lesson as a learner sees them after each solution, with the values of each moment filled in.
import { Prose } from '../lessons/Prose'
import { text } from '../text'
import type { Rehearsal } from './problems'

const words = text.builder

export function Preview({ rehearsal }: { rehearsal: Rehearsal }) {
  const steps = rehearsal.steps ?? []
  return (
    <div class="preview">
      <h3>{rehearsal.title}</h3>
      <p class="hint">{rehearsal.about}</p>
      <ol>
        {steps.map((step, i) => (
          <li key={step.id} class="note">
            <p class="eyebrow">{text.lessons.step(i + 1, rehearsal.all ?? steps.length)}</p>
            <Prose text={step.text} still />
            {step.ask && (
              <>
                <p><b>{step.ask}</b></p>
                <ul>{step.options.map((option, n) => <li key={n}>{option} {n === step.right && <b>({words.right})</b>}</li>)}</ul>
              </>
            )}
            {step.hints.length > 0 && <details><summary>{words.hints}</summary>{step.hints.map(hint => <p key={hint}>{hint}</p>)}</details>}
            {step.solution.length > 0 && <details><summary>{words.solution}</summary><pre tabIndex={0}>{step.solution.join('\n')}</pre></details>}
          </li>
        ))}
      </ol>
    </div>
  )
}
