// MapLines draws lines from each lesson to the lessons that build on it, behind the cards, at their current positions. Screen readers get the
// same information from the text of the cards.
import type { RefObject } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { LessonInfo } from '../engine/protocol'
import { curve, type Box } from './curve'

interface Line {
  from: string
  to: string
  path: string
}

export function MapLines({ around, lessons, near }: { around: RefObject<HTMLElement | null>; lessons: readonly LessonInfo[]; near: string }) {
  const [lines, setLines] = useState<Line[]>([])
  useEffect(() => {
    const map = around.current
    if (!map) return
    const watcher = new ResizeObserver(() => setLines(measure(map, lessons)))
    watcher.observe(map)
    return () => watcher.disconnect()
  }, [lessons])
  return (
    <svg class="maplines" aria-hidden="true">
      {lines.map(line => <path key={`${line.from} ${line.to}`} class={near === line.from || near === line.to ? 'near' : ''} d={line.path} />)}
    </svg>
  )
}

function measure(map: HTMLElement, lessons: readonly LessonInfo[]): Line[] {
  const origin = map.getBoundingClientRect()
  const boxes = new Map<string, Box>()
  for (const card of map.querySelectorAll<HTMLElement>('.lesson')) {
    const { left, top, right, bottom } = card.getBoundingClientRect()
    const at = { left: Math.round(left - origin.left), top: Math.round(top - origin.top), right: Math.round(right - origin.left), bottom: Math.round(bottom - origin.top) }
    boxes.set(card.dataset['lesson'] ?? '', at)
  }
  return lessons.flatMap(({ id, needs }) => needs.flatMap(need => {
    const [from, to] = [boxes.get(need), boxes.get(id)]
    return from && to ? [{ from: need, to: id, path: curve(from, to) }] : []
  }))
}
