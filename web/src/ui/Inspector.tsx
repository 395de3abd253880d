// Inspector shows one frame in detail: its description, its causes, its effects, and the HTTP exchange or the object.
import { useEffect, useState } from 'preact/hooks'
import type { Exchange, Frame } from '../engine/protocol'
import { AnswerView } from '../console/AnswerView'
import { drawer } from '../state/drawer'
import { object, resource, tab } from '../state/page'
import { look, selected, view } from '../state/player'
import { answered, frames, head, own, query, ready } from '../state/session'
import { text } from '../text'
import { describe } from '../timeline/marks'
import { Icon } from './Icon'
import { later } from './later'

const Changed = later(async () => ({ default: (await import('../timeline/Card')).Changed }))
const words = text.inspector
const mostEffects = 12

export function Inspector() {
  const frame = (selected.value <= view.value ? frames.value[selected.value - 1] : undefined) ?? lastAnswer()
  const shown = drawer.value ? 'inspector' : 'inspector away'
  if (!frame) return <aside class={shown} aria-label={words.title}><p class="hint">{words.none}</p></aside>
  return (
    <aside class={shown} aria-label={words.title}>
      <div class="split">
        <h2>{text.kinds[frame.kind] ?? frame.kind} <span class="num">{frame.n}</span></h2>
        {selected.value > 0 && (
          <span>
            <button class="quiet" onClick={() => look(frame.n)}>{words.goTo}</button>
            <button class="icon" aria-label={words.close} onClick={() => { selected.value = 0 }}><Icon name="close" /></button>
          </span>
        )}
      </div>
      <p>{describe(frame)}</p>
      <Why frame={frame} />
      {frame.kind.startsWith('http.') ? <Http frame={frame} /> : <Subject frame={frame} />}
    </aside>
  )
}

// lastAnswer returns the answer to the user's last line, or otherwise the last answer to any client, at the frame in view.
function lastAnswer(): Frame | undefined {
  const { value: all } = frames
  let newest: Frame | undefined
  for (let i = Math.min(view.value, all.length) - 1; i >= 0; i--) {
    const frame = all[i]
    if (frame?.kind !== 'http.res') continue
    if (own.value === 0 || own.value > view.value || frame.cause === own.value) return (frame.op ?? 0) > 0 ? frame : newest
    if ((frame.op ?? 0) > 0) newest ??= frame
    if (frame.n < own.value) break
  }
  return newest
}

function Why({ frame }: { frame: Frame }) {
  const causes: Frame[] = []
  for (let at = frame.cause ?? 0; at > 0;) {
    const cause = frames.value[at - 1]
    if (!cause) break
    causes.push(cause)
    at = cause.cause ?? 0
  }
  const effects = frames.value.slice(frame.n, view.value).filter(other => other.cause === frame.n)
  return (
    <details class="why" open>
      <summary>{words.why}</summary>
      {causes.length === 0 ? <p class="hint">{words.noCause}</p> : <ol>{causes.map(cause => <Link key={cause.n} frame={cause} mark="←" />)}</ol>}
      {effects.length > 0 && (
        <>
          <p class="hint">{words.effects}</p>
          <ol>{effects.slice(0, mostEffects).map(effect => <Link key={effect.n} frame={effect} mark="→" />)}</ol>
        </>
      )}
    </details>
  )
}

function Link({ frame, mark }: { frame: Frame; mark: string }) {
  return <li><button class="row" onClick={() => { selected.value = frame.n }}>{mark} {describe(frame)}</button></li>
}

function Http({ frame }: { frame: Frame }) {
  const [exchange, setExchange] = useState<Exchange | null>(null)
  const known = [answered.value?.n, answered.value?.answered].includes(frame.n) ? answered.value : null
  const world = known ? null : head.value
  useEffect(() => {
    if (!ready.value || known) return
    let current = true
    query<Exchange>('exchange', { frame: frame.n }).then(
      answer => { if (current) setExchange(answer) },
      () => { if (current) setExchange(null) },
    )
    return () => { current = false }
  }, [frame.n, known, world?.n, world?.branch, ready.value])
  const shown = known ?? exchange
  if (!shown) return null
  const past = (shown.answered ?? 0) > view.value
  return (
    <>
      {shown.res?.code === 409 && <Changed frame={frame} exchange={shown} />}
      <AnswerView exchange={past ? { ...shown, res: null } : shown} />
    </>
  )
}

// Subject links a commit or an event to its object, for example "configmaps default/a".
function Subject({ frame }: { frame: Frame }) {
  const [kind, key] = (frame.ref ?? '').split(' ')
  if (!kind || !key) return null
  const slash = key.indexOf('/')
  const ns = slash < 0 ? '' : key.slice(0, slash)
  const name = key.slice(slash + 1)
  const open = () => {
    resource.value = kind
    object.value = { resource: kind, ns, name }
    look(frame.n)
    tab.value = 'objects'
  }
  return (
    <>
      {frame.kind === 'store.commit' && <Changed frame={frame} />}
      <p><button class="quiet" onClick={open}>{kind} {key} <Icon name="arrow" /></button></p>
    </>
  )
}
