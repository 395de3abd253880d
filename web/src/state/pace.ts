// Limits how often the page is updated: the first changes are made at once, later ones together, one update for each pause. When many
// answers arrive in a burst (pasted lines, a program in the page), each of them then costs a line of the transcript and not a drawing of
// the whole page. (The records of a served cluster are collected before they become frames: served.ts.)
//
//	asked    │  │   │││││││││││││││
//	made     │  │   │││     │     │     │

/** pause is the time between two updates of a burst, in ms. */
export const pause = 200

/** few is the number of changes that are made at once. After each pause one more is made at once, up to few. */
export const few = 4

/** paced returns a function that calls change at this limited rate. Calls in the same task count as one. */
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
