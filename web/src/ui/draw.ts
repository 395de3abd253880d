// Rendering at most once per animation frame, however many answers and frames arrive in between. Scroll positions are set after rendering
// and before layout, which then happens once. Effects, such as queries for the new picture, run after painting.
//
//	answers, frames ─▶ signals ─┄ next picture ┄─▶ components ─▶ afterDrawing ─▶ layout, paint ─▶ useEffect
import { options } from 'preact'

const waiting = new Set<() => void>()
let drawing = false

// next calls a function in the next animation frame, or soon if the page is hidden, because hidden pages have no animation frames.
function next(then: () => void): void {
  if (document.hidden) setTimeout(then)
  else requestAnimationFrame(then)
}

/** drawOnce makes Preact render in the next animation frame. */
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

/** nextPicture resolves in the next animation frame. */
export const nextPicture = () => new Promise<void>(next)

/** afterDrawing calls scroll after the current or next rendering. */
export function afterDrawing(scroll: () => void): void {
  waiting.add(scroll)
  if (!drawing) next(finish)
}

function finish(): void {
  const all = [...waiting]
  waiting.clear()
  for (const scroll of all) scroll()
}
