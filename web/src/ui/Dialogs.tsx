// The dialogs, in a chunk of their own: the map of the lessons, sharing, the list of keys, situations, and the builder.
import { bring, situations } from '../actors/situations'
import { Lessons } from '../lessons/Lessons'
import { Share } from '../share/Share'
import { dialog, singleKeys } from '../state/page'
import { text } from '../text'
import { Dialog } from './Dialog'
import { later } from './later'

export default function Dialogs() {
  switch (dialog.value) {
    case 'lessons': return <Lessons />
    case 'share': return <Share />
    case 'keys': return <Keys />
    case 'situations': return <Situations />
    case 'builder': return <Dialog title={text.builder.title} wide><Builder /></Dialog>
    default: return null
  }
}

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
    </Dialog>
  )
}

function Situations() {
  const choose = (key: string) => {
    const situation = situations.find(one => one.key === key)
    if (!situation) return
    dialog.value = ''
    void bring(situation)
  }
  return (
    <Dialog title={text.actors.situations} onKey={choose}>
      <p class="hint">{text.actors.situationsHint}</p>
      <ul class="catalogue">
        {situations.map(situation => (
          <li key={situation.key}>
            <button class="lesson" aria-keyshortcuts={situation.key} onClick={() => choose(situation.key)}>
              <kbd>{situation.key}</kbd>
              <span><b>{text.situations[situation.key]?.[0]}</b><span class="about">{text.situations[situation.key]?.[1]}</span></span>
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  )
}
