// Keys and the mouse as WebDriver's actions (https://www.w3.org/TR/webdriver2/#actions).

const keys = {
  Escape: '\uE00C', Enter: '\uE007', Tab: '\uE004', Home: '\uE011', ArrowLeft: '\uE012', ArrowUp: '\uE013', ArrowRight: '\uE014', ArrowDown: '\uE015', End: '\uE010',
  Shift: '\uE008', Control: '\uE009',
}

/** pressed returns the actions for a key or a combination: 'Enter', 'Control+Shift+z'. */
export function pressed(combination) {
  const names = combination.length === 1 ? [combination] : combination.split('+')
  const shift = names.includes('Shift')
  const values = names.map(name => keys[name] ?? (shift ? name.toUpperCase() : name))
  const down = values.map(value => ({ type: 'keyDown', value }))
  return keyboard([...down, ...values.reverse().map(value => ({ type: 'keyUp', value }))])
}

/** typed returns the actions for typing a text key by key. */
export const typed = text => keyboard([...text].flatMap(value => [{ type: 'keyDown', value }, { type: 'keyUp', value }]))

const keyboard = actions => ({ type: 'key', id: 'keyboard', actions })
const pointer = actions => ({ type: 'pointer', id: 'mouse', parameters: { pointerType: 'mouse' }, actions })
const move = (x, y) => ({ type: 'pointerMove', duration: 0, origin: 'viewport', x: Math.round(x), y: Math.round(y) })
const down = { type: 'pointerDown', button: 0 }
const up = { type: 'pointerUp', button: 0 }

/** clicked returns the actions for a click at a position. */
export const clicked = ({ x, y }) => pointer([move(x, y), down, up])

/** mouse returns a mouse that performs its actions and remembers its position. */
export function mouse(perform) {
  let at = { x: 0, y: 0 }
  return {
    down: () => perform(pointer([down])),
    up: () => perform(pointer([up])),
    async move(x, y, { steps = 1 } = {}) {
      const from = at
      at = { x, y }
      const part = i => move(from.x + (x - from.x) * i / steps, from.y + (y - from.y) * i / steps)
      await perform(pointer(Array.from({ length: steps }, (_, i) => part(i + 1))))
    },
  }
}
