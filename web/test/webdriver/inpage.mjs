// The functions that run in the page when a test reads or operates it over WebDriver. They are sent as text with each request (page.mjs),
// so they can only use each other and the page. A query is a list of steps, which locator.mjs creates.

/** find returns the elements that a query matches now, in document order. */
export function find(query, scope = document) {
  let found = [scope]
  for (const { css, hasText, has, nth } of query) {
    if (css !== undefined) found = [...new Set(found.flatMap(one => within(one, css)))]
    if (hasText !== undefined) found = found.filter(one => mentions(one, hasText))
    if (has !== undefined) found = found.filter(one => find(has, one).length > 0)
    if (nth !== undefined) found = nth < 0 ? found.slice(nth) : found.slice(nth, nth + 1)
  }
  return found
}

/** within is querySelectorAll including shadow trees. A selector may begin outside a shadow tree. */
export function within(scope, css) {
  const hosts = [scope, ...scope.querySelectorAll('*')].filter(one => one.shadowRoot)
  return [...scope.querySelectorAll(css), ...hosts.flatMap(host => css.split(',').flatMap(one => inShadow(host, one.trim().split(' '))))]
}

/** inShadow returns the matches in a host's shadow tree, where the beginning of the selector may match the host or its ancestors. */
export function inShadow(host, words) {
  return words.flatMap((_, at) => {
    if (/^[>+~]$/.test(words[at]) || /^[>+~]$/.test(words[at - 1])) return []
    return at === 0 || host.closest(words.slice(0, at).join(' ')) ? within(host.shadowRoot, words.slice(at).join(' ')) : []
  })
}

/** textOf returns the text of an element, including its shadow tree. */
export function textOf(node) {
  if (node.nodeType === Node.TEXT_NODE) return node.data
  if (node.matches?.('script, style, noscript')) return ''
  return [...node.childNodes, ...(node.shadowRoot?.childNodes ?? [])].map(textOf).join('')
}

/** mentions reports whether an element's text contains a string, ignoring case and spaces, or matches an expression {source, flags}. */
export function mentions(element, wanted) {
  const text = textOf(element)
  if (wanted.source !== undefined) return new RegExp(wanted.source, wanted.flags).test(text)
  const plain = said => said.replace(/\s+/g, ' ').trim().toLowerCase()
  return plain(text).includes(plain(wanted))
}

export function visible(element) {
  const { width, height } = element.getBoundingClientRect()
  return width > 0 && height > 0 && element.checkVisibility({ visibilityProperty: true })
}

/** only returns the element that a query matches, or undefined. It throws if the query matches several. */
export function only(query) {
  const [one, ...others] = find(query)
  if (others.length > 0) throw new Error(`the query matches ${others.length + 1} elements, among them ${one.outerHTML.slice(0, 200)}`)
  return one
}

/** state reports whether the element of a query is attached, detached, visible or hidden. */
export function state(query, wanted) {
  const one = only(query)
  const is = { attached: () => one !== undefined, detached: () => one === undefined, visible: () => one && visible(one), hidden: () => !one || !visible(one) }
  return is[wanted]() ? { done: true } : { why: `it is ${one ? visible(one) ? 'visible' : 'hidden' : 'not there'}` }
}

/** active returns the focused element, also in a shadow tree. */
export function active() {
  let one = document.activeElement
  while (one?.shadowRoot?.activeElement) one = one.shadowRoot.activeElement
  return one
}

/** focus focuses an element. A call may have to be repeated for an element that has just been laid out. */
export function focus(query) {
  const one = only(query)
  if (!one || !visible(one)) return { why: 'the element is missing or hidden' }
  one.focus()
  return active() === one || one.tabIndex < 0 ? { done: true } : { why: 'it does not take the focus' }
}

/** spot returns the position for a click on an element, once the element is enabled, does not move, and is in view and not covered. */
export async function spot(query, block) {
  const one = only(query)
  if (!one || !visible(one)) return { why: one ? 'it is hidden' : 'it is not there' }
  if (one.closest(':disabled, [aria-disabled=true]')) return { why: 'it is disabled' }
  one.scrollIntoView({ block, inline: 'nearest', behavior: 'instant' })
  const before = one.getBoundingClientRect()
  for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame)
  const now = one.getBoundingClientRect()
  if (['left', 'top', 'width', 'height'].some(side => before[side] !== now[side])) return { why: 'it moves' }
  const { left, top, right, bottom } = one.getClientRects()[0]
  const x = Math.floor((Math.max(left, 0) + Math.min(right, innerWidth)) / 2)
  const y = Math.floor((Math.max(top, 0) + Math.min(bottom, innerHeight)) / 2)
  const hit = topmost(x, y)
  if (!holds(one, hit)) return { why: `it is covered by ${hit?.outerHTML.slice(0, 200)}` }
  aim(one)
  return { done: { x, y } }
}

/** aim suppresses the next click if it misses an element because the page has moved in the meantime. */
export function aim(element) {
  window.aimed?.abort()
  window.aimed = new AbortController()
  const options = { capture: true, signal: window.aimed.signal }
  window.missed = false
  const drop = event => {
    if (event.type !== 'click') window.missed ||= !holds(element, event.composedPath()[0])
    if (!window.missed) return
    event.stopImmediatePropagation()
    event.preventDefault()
  }
  for (const type of ['mousedown', 'mouseup', 'click']) addEventListener(type, drop, options)
}

/** missed reports whether that click has missed. */
export function missed() {
  window.aimed?.abort()
  return window.missed ?? false
}

/** topmost returns the topmost element at a position, also in a shadow tree. */
export function topmost(x, y) {
  const inside = outer => {
    const inner = outer?.shadowRoot?.elementFromPoint(x, y)
    return !inner || inner === outer ? outer : inside(inner)
  }
  return inside(document.elementFromPoint(x, y))
}

/** holds reports whether a click on inner is a click on element, which is the case inside the element and on its label. */
export function holds(element, inner) {
  if (!inner) return false
  const label = inner.closest('label')?.control
  return element === inner || element.contains(inner) || label === element || holds(element, inner.getRootNode().host)
}

/** insert replaces the selection with a text, like one input event. */
export function insert(text) {
  document.execCommand('insertText', false, text)
}

/** set sets the value of a field at once: of a slider, a list or a text field. */
export function set(query, value) {
  const one = only(query)
  if (!one || !visible(one)) return { why: 'the element is missing or hidden' }
  if (one.matches('select, [type=range]')) {
    one.value = value
    if (one.value !== value) return { why: `it has ${one.value}` }
    for (const type of ['input', 'change']) one.dispatchEvent(new Event(type, { bubbles: true })) // after that the page may set another value
    return { done: true }
  }
  one.focus()
  one.select()
  if (active() !== one) return { why: 'it does not take the focus' }
  document.execCommand(value === '' ? 'delete' : 'insertText', false, value)
  return one.value === value ? { done: true } : { why: `it has ${one.value}` }
}

/** box returns the bounding box of an element. */
export function box(query) {
  const one = only(query)
  if (!one || !visible(one)) return { why: 'it is not there' }
  const { x, y, width, height } = one.getBoundingClientRect()
  return { done: { x, y, width, height } }
}

/** watch collects the errors, exceptions and policy violations of the page from now on. The host adds it to the beginning of each page
 * (server.mjs). */
export function watch() {
  window.faults = []
  const add = (what, said) => window.faults.push(`${what}: ${said}`)
  addEventListener('error', ({ message, target }) => {
    if (/^ResizeObserver loop/.test(message)) return // the observer is called again in the next frame
    if (target.rel === 'modulepreload') return // Firefox reports this for modules that are already loaded; a missing module would also fail its import
    add(message ? 'exception' : 'not loaded', message ?? target.src ?? target.href)
  }, true)
  addEventListener('unhandledrejection', ({ reason }) => add('exception', reason))
  addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => add('policy', `${violatedDirective} ${blockedURI}`))
  const { error } = console
  console.error = (...said) => {
    add('console', said.join(' '))
    error.apply(console, said)
  }
}

/** watched returns the faults since the last call. */
export function watched() {
  if (!window.faults) watch()
  return window.faults.splice(0)
}
