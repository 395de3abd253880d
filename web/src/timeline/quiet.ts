// Controllers that have done nothing lately are folded away: a control plane has forty, and one Deployment wakes five of them.
import type { Known, Lane, Picture } from './fold'

const most = 5 // lanes of controllers beside each other
const lately = 200 // frames

/** foldAway takes the lanes of quiet controllers out of a picture. Those in known stay: something has been done to them. */
export function foldAway(picture: Picture, known: readonly Known[]): Picture {
  const troubled = new Set(known.map(({ id }) => id))
  const newest = (lane: Lane) => lane.marks.at(-1)?.n ?? 0
  const free = picture.lanes.filter(({ kind, id }) => kind === 'controller' && !troubled.has(id))
  const awake = new Set(free.filter(lane => newest(lane) > picture.last - lately).sort((a, b) => newest(b) - newest(a)).slice(0, most))
  const quiet = free.filter(lane => !awake.has(lane))
  return quiet.length === 0 ? picture : { ...picture, lanes: picture.lanes.filter(lane => !quiet.includes(lane)), quiet }
}
