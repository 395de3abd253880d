// What runs in the page when a test looks at it or acts on it over WebDriver: these functions are sent as text with each request
// (page.mjs), so they use nothing but each other and the page. A query is a list of narrowing steps, as locator.mjs makes it.

/** find returns what a query means now, in the order of the page. */
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

/** within is querySelectorAll that sees into shadow trees, too; a selector may begin outside of one. */
export function within(scope, css) {
  const hosts = [scope, ...scope.querySelectorAll('*')].filter(one => one.shadowRoot)
  return [...scope.querySelectorAll(css), ...hosts.flatMap(host => css.split(',').flatMap(one => inShadow(host, one.trim().split(' '))))]
}

/** inShadow returns what a selector matches in a shadow tree whose host, or what is around it, matches its beginning. */
export function inShadow(host, words) {
  return words.flatMap((_, at) => {
    if (/^[>+~]$/.test(words[at]) || /^[>+~]$/.test(words[at - 1])) return []
    return at === 0 || host.closest(words.slice(0, at).join(' ')) ? within(host.shadowRoot, words.slice(at).join(' ')) : []
  })
}

/** textOf is the text of an element and of its shadow tree. */
export function textOf(node) {
  if (node.nodeType === Node.TEXT_NODE) return node.data
  if (node.matches?.('script, style, noscript')) return ''
  return [...node.childNodes, ...(node.shadowRoot?.childNodes ?? [])].map(textOf).join('')
}

/** mentions looks for a string, whatever its case and spaces, or for an expression {source, flags}. */
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

/** only returns the one element that a query means, undefined when there is none; a query that means several is a mistake. */
export function only(query) {
  const [one, ...others] = find(query)
  if (others.length > 0) throw new Error(`it means ${others.length + 1} elements, among them ${one.outerHTML.slice(0, 200)}`)
  return one
}

/** state says whether a query means an element that is attached, detached, visible or hidden. */
export function state(query, wanted) {
  const one = only(query)
  const is = { attached: () => one !== undefined, detached: () => one === undefined, visible: () => one && visible(one), hidden: () => !one || !visible(one) }
  return is[wanted]() ? { done: true } : { why: `it is ${one ? visible(one) ? 'visible' : 'hidden' : 'not there'}` }
}

/** active is what has the focus, also in a shadow tree. */
export function active() {
  let one = document.activeElement
  while (one?.shadowRoot?.activeElement) one = one.shadowRoot.activeElement
  return one
}

/** focus gives an element the focus; one that has just been laid out may take it only the next time. */
export function focus(query) {
  const one = only(query)
  if (!one || !visible(one)) return { why: 'it is not there to take the focus' }
  one.focus()
  return active() === one || one.tabIndex < 0 ? { done: true } : { why: 'it does not take the focus' }
}

/** spot returns where to click an element, once it is enabled, at rest, in view and not covered. */
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

/** aim has the next click do nothing if it misses an element: the page may have moved when it comes. */
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

/** missed says whether that click has missed. */
export function missed() {
  window.aimed?.abort()
  return window.missed ?? false
}

/** topmost is what lies at a place of the window, also in a shadow tree. */
export function topmost(x, y) {
  const inside = outer => {
    const inner = outer?.shadowRoot?.elementFromPoint(x, y)
    return !inner || inner === outer ? outer : inside(inner)
  }
  return inside(document.elementFromPoint(x, y))
}

/** holds says whether a click on something is a click on an element: it lies in it, or in its label. */
export function holds(element, inner) {
  if (!inner) return false
  const label = inner.closest('label')?.control
  return element === inner || element.contains(inner) || label === element || holds(element, inner.getRootNode().host)
}

/** insert writes a text where the focus is, in the place of what is selected, as if it had been typed at once. */
export function insert(text) {
  document.execCommand('insertText', false, text)
}

/** set changes the value of a field at once: of a slider and a list, as of a text that is typed. */
export function set(query, value) {
  const one = only(query)
  if (!one || !visible(one)) return { why: 'it is not there to be filled' }
  if (one.matches('select, [type=range]')) {
    one.value = value
    for (const type of ['input', 'change']) one.dispatchEvent(new Event(type, { bubbles: true }))
    return one.value === value ? { done: true } : { why: `it has ${one.value}` }
  }
  one.focus()
  one.select()
  if (active() !== one) return { why: 'it does not take the focus' }
  document.execCommand(value === '' ? 'delete' : 'insertText', false, value)
  return one.value === value ? { done: true } : { why: `it has ${one.value}` }
}

/** box is the place of an element. */
export function box(query) {
  const one = only(query)
  if (!one || !visible(one)) return { why: 'it is not there' }
  const { x, y, width, height } = one.getBoundingClientRect()
  return { done: { x, y, width, height } }
}

/** watch collects from now on what must not happen on a page: errors, exceptions, violations of the policy. The host has pages
 * begin with it (server.mjs). */
export function watch() {
  window.faults = []
  const add = (what, said) => window.faults.push(`${what}: ${said}`)
  addEventListener('error', ({ message, target }) => {
    if (/^ResizeObserver loop/.test(message)) return // it is observed again in the next frame
    if (target.rel === 'modulepreload') return // Firefox says this of a module that is there already; its import would fail, too
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

/** watched returns what has happened since it was asked last. */
export function watched() {
  if (!window.faults) watch()
  return window.faults.splice(0)
}
