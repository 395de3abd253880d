// A locator with Playwright's interface: a query that is evaluated for each action, and actions that wait until they are possible.
import { box, focus, missed, set, spot, state } from './inpage.mjs'
import { clicked, pressed, typed } from './keys.mjs'

const plain = wanted => wanted instanceof RegExp ? { source: wanted.source, flags: wanted.flags } : wanted

const condition = ({ hasText, has }) => ({ ...(hasText !== undefined && { hasText: plain(hasText) }), ...(has && { has: has.query }) })

export class Locator {
  constructor(page, query) {
    this.page = page
    this.query = query
  }

  narrower(step) { return new Locator(this.page, [...this.query, step]) }
  locator(css, options = {}) { return this.narrower({ css, ...condition(options) }) }
  filter(options) { return this.narrower(condition(options)) }
  nth(nth) { return this.narrower({ nth }) }
  first() { return this.nth(0) }
  last() { return this.nth(-1) }

  // attempt calls a function in the page until it succeeds. The error contains its last reason.
  attempt(what, args = [], limit = undefined) {
    return this.page.until(async attempt => {
      const { done, why } = await this.page.ask(what, [this.query, ...(typeof args === 'function' ? args(attempt) : args)])
      if (done === undefined) throw new Error(why)
      return { done }
    }, limit, () => `${what.name} ${JSON.stringify(this.query)}`)
  }

  waitFor({ state: wanted = 'visible', timeout } = {}) { return this.attempt(state, [wanted], timeout) }
  focus() { return this.attempt(focus) }
  fill(value) { return this.attempt(set, [value]) }
  selectOption(value) { return this.attempt(set, [value]) }
  boundingBox() { return this.attempt(box) }

  async click() {
    await this.page.until(async () => {
      // A covered element may be free after scrolling it to the middle of the window.
      const at = await this.attempt(spot, attempt => [attempt % 2 === 0 ? 'nearest' : 'center'])
      await this.page.perform(clicked(at))
      const gone = () => false // a click on a link leaves the page
      return await this.page.ask(missed, []).catch(gone) ? {} : { done: true }
    })
  }

  check() { return this.mark(true) }
  uncheck() { return this.mark(false) }

  async mark(checked) {
    const is = () => this.evaluate(element => element.checked)
    if (await is() !== checked) await this.click()
    await this.page.until(async () => await is() === checked ? { done: true } : {})
  }

  async press(key) {
    await this.focus()
    await this.page.perform(pressed(key))
  }

  async pressSequentially(text) {
    await this.focus()
    await this.page.perform(typed(text))
  }

  async setInputFiles(path) {
    await this.waitFor({ state: 'attached' })
    await this.page.session.send('keys', { element: await this.page.call('query => only(query)', [this.query]), text: path })
  }

  async evaluate(what) {
    await this.waitFor({ state: 'attached' })
    return this.page.call(`query => (${what})(only(query))`, [this.query])
  }

  evaluateAll(what) { return this.page.call(`query => (${what})(find(query))`, [this.query]) }
  count() { return this.evaluateAll(all => all.length) }
  allInnerTexts() { return this.evaluateAll(all => all.map(one => one.innerText)) }
  isVisible() { return this.page.call('query => { const one = only(query); return one !== undefined && visible(one) }', [this.query]) }
  innerText() { return this.evaluate(element => element.innerText) }
  textContent() { return this.evaluate(element => element.textContent) }
  inputValue() { return this.evaluate(element => element.value) }

  async getAttribute(name) {
    await this.waitFor({ state: 'attached' })
    return this.page.call('(query, name) => only(query).getAttribute(name)', [this.query, name])
  }
}
