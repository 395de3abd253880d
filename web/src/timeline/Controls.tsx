// Controls is the bar above the lanes: the position in the past, playback, and the world's clock.
import {
  arrived, ended, live, look, nextInteresting, opInView, playing, revisionInView, speed, step, toEnd, togglePlay, toStart, view,
} from '../state/player'
import { ahead, due } from '../state/clock'
import { attached, branch, branches, fork, frames, head, lessonState, ready, redo, run, ticking, undo, undoable } from '../state/session'
import { text } from '../text'
import { Icon } from '../ui/Icon'
import { elapsed } from './elapsed'

const words = text.timeline

export function Controls() {
  const last = frames.value.length
  return (
    <div class="controls">
      <div class="transport" role="group" aria-label={words.title}>
        <Button icon="start" label={words.start} run={toStart} off={view.value <= 1} />
        <Button icon="back" label={words.back} run={() => step(-1)} off={view.value <= 1} />
        <Button icon={playing.value ? 'pause' : 'play'} label={playing.value ? words.pause : words.play}
          run={togglePlay} off={last < 2} main />
        <Button icon="forward" label={words.forward} run={() => step(1)} off={ended.value || (!ready.value && live.value)} />
        <Button icon="end" label={words.end} run={toEnd} off={live.value} />
      </div>
      <input class="scrub" type="range" min={Math.min(1, last)} max={last} value={view.value} aria-label={words.scrub}
        aria-valuetext={words.past(view.value, last)} onInput={event => look(Number(event.currentTarget.value))} />
      {(playing.value || !live.value) && (
        <Choice label={words.speed} value={String(speed.value)} onChoose={value => { speed.value = Number(value) }}
          options={['0.25', '0.5', '1', '2', '4', '10'].map(rate => [rate, `${rate}×`])} />
      )}
      {branches.value.length > 1 && <Branches />}
      <Clock />
      {ready.value && !lessonState.value && !attached.value && <Time />}
    </div>
  )
}

// Time advances simulated time: with real time, by a second, or until the controllers are idle.
function Time() {
  return (
    <span class="pair" role="group" aria-label={words.now}>
      <Button icon={ticking.value ? 'pause' : 'clock'} label={ticking.value ? words.stand : words.go} run={() => { ticking.value = !ticking.value }} />
      <button class="quiet" title={words.second} onClick={() => void run('tick 1s')}>+1 s</button>
      <button class="quiet" title={words.settled} onClick={() => void run('tick settled')}>{words.untilSettled}</button>
    </span>
  )
}

function Branches() {
  return <Choice label={words.branch} value={head.value.branch} onChoose={id => void branch(id)} options={branches.value.map(id => [id, `${words.branch} ${id}`])} />
}

/** Undo has the buttons for undo and redo. */
export function Undo() {
  return (
    <span class="pair">
      <Button icon="undo" label={words.undo} run={undo} off={!ready.value || !undoable.value} />
      <Button icon="redo" label={words.redo} run={redo} off={!ready.value || head.value.n >= head.value.total} />
    </span>
  )
}

/** Past is the bar that is shown while the page shows the past, with buttons to branch from there. */
export function Past() {
  if (live.value) return null
  return (
    <p class="past" role="status">
      {words.past(view.value, frames.value.length)}
      <button class="quiet" onClick={() => void fork(opInView.value)}>{words.fork}</button>
      <button class="quiet" onClick={nextInteresting}>{words.interesting}</button>
      <button class="quiet" onClick={toEnd}>{words.end}</button>
    </p>
  )
}

function Clock() {
  const now = arrived.value ? head.value.vt + ahead.value * 1000 : (frames.value[view.value - 1]?.vt ?? 0)
  return (
    <dl class="clock">
      <div><dt>{words.at}</dt><dd>{revisionInView.value}</dd></div>
      <div>
        <dt>{words.now}</dt>
        <dd><time>{now ? new Date(now).toISOString().slice(11, now % 1000 ? 23 : 19) : '–'}</time></dd>
      </div>
      {due.value && arrived.value && <div class="due"><dd>{words.next(elapsed(due.value.in))}</dd></div>}
    </dl>
  )
}

function Button({ icon, label, run, off, main }: {
  icon: string; label: string; run(): unknown; off?: boolean; main?: boolean
}) {
  return (
    <button class={main ? 'icon main' : 'icon'} aria-label={label} title={label} aria-disabled={off ? 'true' : undefined}
      onClick={() => { if (!off) void run() }}><Icon name={icon} /></button>
  )
}

function Choice({ label, value, options, onChoose }: {
  label: string; value: string; options: [string, string][]; onChoose(value: string): void
}) {
  return (
    <select aria-label={label} value={value} onChange={event => onChoose(event.currentTarget.value)}>
      {options.map(([key, name]) => <option key={key} value={key}>{name}</option>)}
    </select>
  )
}
