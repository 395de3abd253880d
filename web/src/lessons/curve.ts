// The geometry of a line on the map, from a lesson to one that builds on it.
export interface Box {
  left: number
  top: number
  right: number
  bottom: number
}

/** curve returns the SVG path from one box to another: between their sides if they are in one row, otherwise from the lower edge to the
 * upper edge. */
export function curve(from: Box, to: Box): string {
  if (to.top < from.bottom && to.left >= from.right) {
    const [y1, y2, half] = [(from.top + from.bottom) / 2, (to.top + to.bottom) / 2, (from.right + to.left) / 2]
    return `M${from.right} ${y1} C${half} ${y1} ${half} ${y2} ${to.left} ${y2}`
  }
  const [x1, x2, half] = [(from.left + from.right) / 2, (to.left + to.right) / 2, (from.bottom + to.top) / 2]
  return `M${x1} ${from.bottom} C${x1} ${half} ${x2} ${half} ${x2} ${to.top}`
}
