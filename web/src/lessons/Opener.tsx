// Opener is the first screen: what the project is, why it is useful, how it is verified, and captions for the recording that plays.
import { manifest } from '../engine/files'
import { dialog } from '../state/page'
import { ready } from '../state/session'
import { captions, enterFreePlay } from '../state/worlds'
import { text } from '../text'
import { later } from '../ui/later'
import { catalogue, nextLesson, readCatalogue } from './progress'

const Story = later(() => import('./Story'))

const words = text.opener

// begin starts the first lesson that is not done yet, or opens the map if all are.
async function begin(): Promise<void> {
  if (catalogue.value.length === 0) await readCatalogue()
  const next = nextLesson('')
  if (next) next.start()
  else dialog.value = 'lessons'
}

export function Opener() {
  return (
    <>
      <h2>{words.what}</h2>
      <p>{words.why}</p>
      {manifest && <p class="hint">{words.checked(__STEPS__, manifest.minor)}</p>}
      <p class="chips">
        <button class="primary" aria-disabled={!ready.value} onClick={() => { if (ready.value) void begin() }}>{words.begin}</button>
        <button onClick={() => { dialog.value = 'lessons' }}>{text.lessons.title}</button>
        <button aria-disabled={!ready.value} onClick={() => { if (ready.value) void enterFreePlay() }}>{text.head.sandbox}</button>
      </p>
      <div class="note caption" role="status">
        <p class="eyebrow">{words.story}</p>
        {captions.value.length > 0 ? <Story /> : <p>{words.wait}</p>}
      </div>
      <p class="hint small"><a href={__SOURCE__}>{words.source}</a> · <a href={`${__SOURCE__}#readme`}>{words.docs}</a></p>
    </>
  )
}
