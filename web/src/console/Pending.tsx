// Pending is the line below the newest answer. It shows the command that still runs, with a button to stop it, or the events that are due.
import { useEffect, useState } from 'preact/hooks'
import type { Controller } from '../engine/protocol'
import { due } from '../state/clock'
import { arrived } from '../state/player'
import { attached, bootBody, interrupt, lessonState, query, run, running, ticking, transcript } from '../state/session'
import { enterFreePlay } from '../state/worlds'
import { text } from '../text'
import { elapsed } from '../timeline/elapsed'

const words = text.console
const soon = 10_000 // ms: timers that are due later are not announced
const pods = /^k(?:ubectl)? +(?:run|apply|scale|create (?:deploy|job|cron)|get (?:no|po))/ // lines after which a user expects that pods run
const long = 600 // ms: lines that take less time are not announced

export function Pending() {
  const work = running.value
  const [late, setLate] = useState(false)
  useEffect(() => {
    if (!work) return
    const timer = setTimeout(() => setLate(true), long)
    return () => {
      clearTimeout(timer)
      setLate(false)
    }
  }, [work?.line])
  if (work && late) {
    return (
      <p class="foot" role="status">
        <b>{words.running}</b> <code>{work.line}</code> {work.time > 0 && <time>{new Date(work.time).toISOString().slice(0, 19).replace('T', ' ')}</time>}
        {!attached.value && <button onClick={() => void interrupt()}>{words.stop}</button>}
      </p>
    )
  }
  if (!work && pods.test(transcript.value.at(-1)?.line ?? '') && !attached.value && !lessonState.value && !bootBody().nodes) {
    return <p class="foot hint"><span>{words.nodeless}</span><button class="quiet" onClick={() => void enterFreePlay()}>{words.nodes}</button></p>
  }
  const next = due.value
  if (work || !next || next.in > soon || !arrived.value || ticking.value || transcript.value.length === 0 || attached.value) return null
  return <Due within={next.in} />
}

function Due({ within }: { within: number }) {
  const [things, setThings] = useState(0)
  useEffect(() => {
    let current = true
    query<{ controllers: Controller[] }>('controllers').then(({ controllers }) => {
      if (current) setThings(controllers.flatMap(one => one.due).filter(one => one.in <= within).length)
    }, () => {})
    return () => { current = false }
  }, [due.value])
  return (
    <p class="foot hint">
      <span>{words.due(Math.max(1, things), elapsed(within))}</span>
      <button class="quiet" onClick={() => void run('tick 1s')}>+1 s</button>
      <button class="quiet" onClick={() => void run('tick settled')}>{text.timeline.untilSettled}</button>
    </p>
  )
}
