// The icons of the page, drawn as strokes on a 16 px grid in the colour of the surrounding text.
const paths: Record<string, string> = {
  start: 'M3 3v10M13 3L6 8l7 5z',
  back: 'M11 3L4 8l7 5z',
  play: 'M5 2.5l8 5.5-8 5.5z',
  pause: 'M5 3v10M11 3v10',
  clock: 'M8 2.5a5.5 5.5 0 100 11 5.5 5.5 0 000-11M8 5v3l2 1.5',
  forward: 'M5 3l7 5-7 5z',
  end: 'M13 3v10M3 3l7 5-7 5z',
  undo: 'M6 3L3 6l3 3M3 6h6.5a3.5 3.5 0 010 7H7',
  redo: 'M10 3l3 3-3 3M13 6H6.5a3.5 3.5 0 000 7H9',
  close: 'M4 4l8 8M12 4l-8 8',
  check: 'M3 8.5l3.5 3.5L13 4.5',
  link: 'M6.5 9.5l3-3M7 5l1.5-1.5a2.8 2.8 0 014 4L11 9M9 11l-1.5 1.5a2.8 2.8 0 01-4-4L5 7',
  arrow: 'M3 8h10M9 4l4 4-4 4',
}

export function Icon({ name }: { name: string }) {
  return (
    <svg class="glyph" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={paths[name] ?? ''} />
    </svg>
  )
}
