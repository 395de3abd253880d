// The shapes of the marks. Shapes and letters distinguish the kinds; colours only repeat that.
//
//	▸ request   201 answer   ■ commit   ○ cache   Ⓐ event (added, modified, deleted)   ╷b bookmark   ✕ end   ϟ fault
import type { Frame } from '../engine/protocol'
import { text } from '../text'

/** letter returns the letter for a watch event: A, M, D or E, or • for any other event. */
export function letter(frame: Frame): string {
  const match = /\b(ADDED|MODIFIED|DELETED|ERROR)\b/.exec(`${frame.verb ?? ''} ${frame.text}`)
  return match?.[1]?.[0] ?? '•'
}

/** describe returns the description of a mark. The log for screen readers, the card and the accessible name use the same sentence. */
export function describe(frame: Frame): string {
  const kind = text.kinds[frame.kind] ?? frame.kind
  const rv = frame.rv && frame.rv !== '0' && !new RegExp(`\\b(?:rv|revision) ${frame.rv}\\b`).test(frame.text) ? `, ${text.timeline.at} ${frame.rv}` : ''
  const said = frame.kind.startsWith('check.') ? text.said(frame.text) : text.framed(frame.text)
  return `${laneName(frame.lane)}: ${kind}, ${said}${rv}`
}

/** laneName returns the displayed name of a lane. */
export function laneName(id: string): string {
  const [kind = '', ...rest] = id.split('/')
  const name = rest.join('/')
  if (kind === 'store') return text.timeline.store
  if (kind === 'replica') return text.timeline.replica(name)
  if (kind === 'watch') return text.timeline.watch(name)
  if (kind === 'client' || kind === 'controller') return text.timeline.client(name)
  return kind
}

/** objectOf returns the name of the object of a commit or an event. */
export const objectOf = (frame: Frame): string => /\S+ (?:\S+\/)?(\S+)$/.exec(frame.ref ?? '')?.[1] ?? ''

const hues = new Map<string, number>() // colour numbers by object, in the order of first use

/** hueOf returns the CSS class for the object of a commit or an event, one of six colours, or '' for other frames. */
export function hueOf({ ref, kind }: Frame): string {
  if (!ref || (kind !== 'store.commit' && kind !== 'watch.event')) return ''
  const hue = hues.get(ref) ?? hues.size % 6
  hues.set(ref, hue)
  return `object${hue}`
}

export function Shape({ frame }: { frame: Frame }) {
  switch (frame.kind) {
    case 'http.req':
      return <path class="shape open" d="M-5 -6 L7 0 L-5 6 Z" />
    case 'http.res':
      return <Answer code={frame.code ?? 0} />
    case 'store.commit':
      return <rect class="shape solid" x="-6.5" y="-6.5" width="13" height="13" rx="2" />
    case 'store.compact':
      return <path class="shape stroke" d="M0 -10 V10 M-5 -10 H5 M-5 10 H5" />
    case 'reconcile':
      return <Reconcile frame={frame} />
    case 'cache.apply':
      return <circle class="shape open" r="5.5" />
    case 'watch.event':
      return <Lettered text={letter(frame)} />
    case 'watch.bookmark':
      return <path class="shape stroke" d="M0 -9 V6 M0 0 A4.2 4.2 0 1 1 0 6" />
    case 'watch.close':
      return <path class="shape stroke bad" d="M-5 -5 L5 5 M5 -5 L-5 5" />
    case 'fault':
      return <path class="shape solid bad" d="M2 -9 L-5 2 H-1 L-3 9 L5 -2 H1 Z" />
    case 'check.pass':
      return <path class="shape stroke" d="M-6 0 L-2 5 L6 -5" />
    case 'clock.tick':
      return <g class="lapse"><path class="shape stroke" d="M0 -7 V7" /><text y="-10">{frame.text.replace(/(\D)0s$/, '$1')}</text></g>
    default:
      return <path class="shape stroke" d="M0 -7 V7" />
  }
}

// Reconcile is a circular arrow. The number inside counts the writes of the reconcile.
function Reconcile({ frame }: { frame: Frame }) {
  const wrote = /writes (\d+)$/.exec(frame.text)?.[1]
  return (
    <g class="turn">
      <path class={`shape stroke${(frame.code ?? 0) >= 400 ? ' bad' : ''}`} d="M6.5 -4 A7.5 7.5 0 1 0 7.5 1 M7.5 -8 V-3.5 H3" />
      {wrote && <text y="3.5">{wrote}</text>}
    </g>
  )
}

function Answer({ code }: { code: number }) {
  const bad = code >= 400 ? ' bad' : ''
  return (
    <g class={`answer${bad}`}>
      <rect class="plate" x="-10.5" y="-7.5" width="21" height="15" rx="3" />
      <text y="3.5">{code || '…'}</text>
    </g>
  )
}

function Lettered({ text }: { text: string }) {
  return (
    <g class="lettered">
      <circle class="shape solid" r="7.5" />
      <text y="3.5">{text}</text>
    </g>
  )
}
