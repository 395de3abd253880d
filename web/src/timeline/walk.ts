// Keyboard navigation of the timeline: Tab moves between lanes, the arrow keys move between marks.
import type { Lane } from './fold'

/** stopOf returns the mark of a lane that Tab focuses. The arrow keys reach the others. */
export function stopOf(lane: Lane, stopped: number | undefined, open: number): number {
  const has = (n: number | undefined) => n !== undefined && placeOf(lane.marks, n) >= 0
  if (has(open)) return open
  return stopped !== undefined && has(stopped) ? stopped : (lane.marks.at(-1)?.n ?? 0)
}

// placeOf returns the index of frame n among the marks of a lane, which are sorted by n, or -1.
function placeOf(marks: Lane['marks'], n: number): number {
  let low = 0
  let high = marks.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((marks[middle]?.n ?? 0) < n) low = middle + 1
    else high = middle
  }
  return marks[low]?.n === n ? low : -1
}

/** nextMark returns the mark that a key leads to: left, right, Home and End within the lane, up and down to the nearest mark of the next
 * lane that has marks. It returns undefined if there is none. */
export function nextMark(lanes: readonly Lane[], n: number, key: string): number | undefined {
  const row = lanes.findIndex(lane => placeOf(lane.marks, n) >= 0)
  const marks = lanes[row]?.marks
  if (!marks) return undefined
  const at = placeOf(marks, n)
  switch (key) {
    case 'ArrowRight': return marks[at + 1]?.n
    case 'ArrowLeft': return marks[at - 1]?.n
    case 'Home': return marks[0]?.n
    case 'End': return marks.at(-1)?.n
    case 'ArrowUp': return nearest(lanes.slice(0, row).reverse(), n)
    case 'ArrowDown': return nearest(lanes.slice(row + 1), n)
    default: return undefined
  }
}

function nearest(lanes: readonly Lane[], n: number): number | undefined {
  const marks = lanes.find(lane => lane.marks.length > 0)?.marks
  return marks?.reduce((a, b) => (Math.abs(b.n - n) < Math.abs(a.n - n) ? b : a)).n
}
