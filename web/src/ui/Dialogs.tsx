// The dialogs, in a chunk of their own: the lessons, stories, sharing, the list of keys, situations, the builder, and courses.
import { runSituation, situations } from '../actors/situations'
import type { Frame } from '../engine/protocol'
import { Lessons } from '../lessons/Lessons'
import { Stories } from '../lessons/Stories'
import { Share } from '../share/Share'
import { dialog, singleKeys } from '../state/page'
import { text } from '../text'
import { Shape } from '../timeline/marks'
import { Dialog } from './Dialog'
import { later } from './later'

export default function Dialogs() {
  switch (dialog.value) {
    case 'lessons': return <Lessons />
    case 'share': return <Share />
    case 'stories': return <Stories />
    case 'keys': return <Keys />
    case 'situations': return <Situations />
    case 'builder': return <Dialog title={text.builder.title} wide><Builder /></Dialog>
    case 'course': return <Dialog title={text.course.title}><Courses /></Dialog>
    default: return null
  }
}

const Courses = later(() => import('../teach/Courses'))
const Builder = later(() => import('../builder/Builder'))

function Keys() {
  return (
    <Dialog title={text.keys.title}>
      <label class="option">
        <input type="checkbox" checked={singleKeys.value} onChange={event => { singleKeys.value = event.currentTarget.checked }} />
        <span>{text.keys.single}</span>
      </label>
      <dl class="keys">
        {text.keys.list.map(([keys, what]) => (
          <div key={keys}><dt>{keys.split('  ').map(key => <kbd key={key}>{key}</kbd>)}</dt><dd>{what}</dd></div>
        ))}
      </dl>
      <h3>{text.changed.legend}</h3>
      <ul class="legend plain">
        {marks.map(([kind, more]) => (
          <li key={kind}>
            <svg width="28" height="24" viewBox="-14 -12 28 24" aria-hidden="true"><g class="mark" data-kind={kind}><Shape frame={{ ...sample, kind, ...more }} /></g></svg>
            {text.kinds[kind]}
          </li>
        ))}
      </ul>
    </Dialog>
  )
}

const sample: Frame = { n: 0, vt: 0, rv: '0', lane: '', kind: '', text: '' }
// marks are the kinds in the legend, each with the fields of a frame that its shape needs.
const marks: [kind: string, more?: Partial<Frame>][] = [
  ['http.req'], ['http.res', { code: 201 }], ['store.commit'], ['cache.apply'], ['watch.event', { verb: 'ADDED' }], ['watch.bookmark'],
  ['watch.close'], ['reconcile', { text: 'writes 2' }], ['store.compact'], ['fault'],
]

function Situations() {
  return (
    <Dialog title={text.actors.situations} onKey={chooseSituation}>
      <p class="hint">{text.actors.situationsHint}</p>
      <SituationList />
    </Dialog>
  )
}

// chooseSituation runs the situation of a key.
function chooseSituation(key: string): void {
  const situation = situations.find(one => one.key === key)
  if (!situation) return
  dialog.value = ''
  void runSituation(situation)
}

/** SituationList lists the situations, in their dialog and in the guide of free play. */
export function SituationList() {
  return (
    <ul class="catalogue">
      {situations.map(({ key }) => (
        <li key={key}>
          <button class="lesson" aria-keyshortcuts={key} onClick={() => chooseSituation(key)}>
            <kbd>{key}</kbd>
            <span><b>{text.situations[key]?.[0]}</b><span class="about">{text.situations[key]?.[1]}</span></span>
          </button>
        </li>
      ))}
    </ul>
  )
}
