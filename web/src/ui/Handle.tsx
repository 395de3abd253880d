// Handle is the bar between timeline and workspace. Dragging it, or the arrow keys, set the maximum height of the timeline.
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { recall, remember } from '../state/page'
import { text } from '../text'

const [least, most] = [12, 80] // % of the height
const above = signal(Number(recall('above')) || 46)

function move(to: number): void {
  above.value = Math.round(Math.max(least, Math.min(most, to)))
  remember('above', String(above.value))
}

const steps: Record<string, number> = { ArrowUp: -4, ArrowDown: 4, Home: -100, End: 100 }

export function Handle() {
  useEffect(() => { document.documentElement.style.setProperty('--above', `${above.value}%`) }, [above.value])
  const drag = (event: PointerEvent & { currentTarget: HTMLElement }) => {
    const bar = event.currentTarget
    if (!bar.hasPointerCapture(event.pointerId)) return
    const { top, height } = (bar.parentElement as HTMLElement).getBoundingClientRect()
    move(((event.clientY - top) / height) * 100)
  }
  const key = (event: KeyboardEvent) => {
    const by = steps[event.key]
    if (!by) return
    event.preventDefault()
    move(above.value + by)
  }
  return (
    <div class="handle-bar" role="separator" tabIndex={0} aria-orientation="horizontal" aria-label={text.timeline.height}
      aria-valuenow={above.value} aria-valuemin={least} aria-valuemax={most} onKeyDown={key} onPointerMove={drag}
      onPointerDown={event => event.currentTarget.setPointerCapture(event.pointerId)} />
  )
}
