// Hides the lanes of controllers without recent frames: a control plane has about forty controllers, and one Deployment activates five of
// them.
import type { Known, Lane, Picture } from './fold'

const most = 5 // lanes of controllers that are shown
const lately = 200 // frames

/** foldAway removes the lanes of quiet controllers from a picture. Lanes in known stay, because a fault or command affects them. */
export function foldAway(picture: Picture, known: readonly Known[]): Picture {
  const kept = new Set(known.map(({ id }) => id))
  const newest = (lane: Lane) => lane.marks.at(-1)?.n ?? 0
  const free = picture.lanes.filter(({ kind, id }) => kind === 'controller' && !kept.has(id))
  const active = new Set(free.filter(lane => newest(lane) > picture.last - lately).sort((a, b) => newest(b) - newest(a)).slice(0, most))
  const quiet = free.filter(lane => !active.has(lane))
  return quiet.length === 0 ? picture : { ...picture, lanes: picture.lanes.filter(lane => !quiet.includes(lane)), quiet }
}
