// When the page is drawn: once for each picture that the browser shows, however many answers and frames have come since the last one.
// What has to be scrolled is scrolled then, when everything is laid out once; what the new picture has to ask the engine is asked
// after it.
//
//	answers, frames ─▶ signals ─┄ next picture ┄─▶ components ─▶ afterDrawing ─▶ layout, paint ─▶ useEffect
import { options } from 'preact'

const waiting = new Set<() => void>()
let drawing = false

// A page that nobody sees has no next picture.
function next(then: () => void): void {
  if (document.hidden) setTimeout(then)
  else requestAnimationFrame(then)
}

/** drawOnce lets all components wait for the next picture. */
export function drawOnce(): void {
  options.debounceRendering = draw => next(() => {
    drawing = true
    try {
      draw()
    } finally {
      drawing = false
      finish()
    }
  })
  options.requestAnimationFrame = effects => { setTimeout(effects) }
}

/** nextPicture is the moment at which the next picture is drawn. */
export const nextPicture = () => new Promise<void>(next)

/** afterDrawing calls something when what is being drawn is there; what scrolls does it here. */
export function afterDrawing(scroll: () => void): void {
  waiting.add(scroll)
  if (!drawing) next(finish)
}

function finish(): void {
  const all = [...waiting]
  waiting.clear()
  for (const scroll of all) scroll()
}
