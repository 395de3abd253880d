// A pace for what is drawn: a few changes are made at once, and of a burst of them those that come in a moment are made together. Answers
// that come faster than anybody reads (many lines that are pasted, a program in the page) then cost a line of the transcript each, and not
// a picture of everything. (Of a served cluster records are gathered before they are frames: served.ts.)
//
//	asked    │  │   │││││││││││││││
//	made     │  │   │││     │     │     │

/** pause is such a moment, in ms. */
export const pause = 200

/** few is how many changes are made at once; after each moment it may be one more again. */
export const few = 4

/** paced is a change that keeps that pace; what asks for it in the same task as one before is part of that. */
export function paced(change: () => void): () => void {
  let left = few
  let made = false // in this task
  let waiting = false
  let passing = false
  const make = () => {
    if (!made && left === 0) {
      waiting = true
      return
    }
    change()
    if (made) return
    made = true
    setTimeout(() => { made = false })
    left--
    if (!passing) setTimeout(pass, pause)
    passing = true
  }
  const pass = () => {
    left++
    passing = left < few
    if (passing) setTimeout(pass, pause)
    if (!waiting) return
    waiting = false
    make()
  }
  return make
}
