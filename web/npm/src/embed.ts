/**
 * An element for articles: it shows the lines of a scenario, which the reader runs one by one in the page, on a simulated Kubernetes
 * API server.
 *
 *   <script type="module" src="…/kubesim/dist/embed.js"></script>
 *   <kubesim-embed scenario="create configmap a&#10;get configmaps"></kubesim-embed>
 *   <kubesim-embed src="lost-update.txtar"></kubesim-embed>
 *   <kubesim-embed><pre>create configmap a</pre></kubesim-embed>
 *
 * The engine (3 MB) is loaded when the reader runs the first line.
 *
 * @module
 */
import { Engine, type EngineName, type Message, Refused } from './engine.js'

interface Step {
  line: string
  /** comment is the comment above the line, without # signs. */
  comment: string
}

interface Outcome {
  lines: string[]
  ok: boolean
  text?: string
}

interface Frame {
  n: number
  rv: string
  lane: string
  kind: string
  op?: number
  text?: string
  code?: number
}

/** stepsOf returns the lines of a scenario before its first file (-- NAME --), without comments and empty lines. */
export function stepsOf(scenario: string): Step[] {
  const steps: Step[] = []
  let comment: string[] = []
  for (const text of scenario.split(/\r\n|\r|\n/)) {
    const line = text.trim()
    if (/^-- .+ --$/.test(line)) break
    if (line.startsWith('#')) comment.push(line.slice(1).trim())
    else if (line === '' && comment.length > 0) comment.push('')
    else if (line !== '') {
      steps.push({ line, comment: comment.join('\n').trim() })
      comment = []
    }
  }
  return steps
}

const css = `
:host { display: block; margin-block: 1em; border: 1px solid color-mix(in srgb, currentColor 35%, transparent); border-radius: .5rem; padding: .75rem 1rem; line-height: 1.45; }
:host([hidden]) { display: none; }
ol { list-style: none; margin: 0; padding: 0; }
p { margin: .75em 0 .25em; white-space: pre-line; }
li:first-child > p { margin-top: 0; }
.heard { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
:host { position: relative; }
[hidden] { display: none !important; }
code, pre, table { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .875em; }
.line { display: block; padding: .2em 0; overflow-wrap: anywhere; }
.line::before { content: "> "; }
li[aria-current] .line { font-weight: bold; }
pre { margin: 0 0 .5em; padding: .5em .75em; overflow-x: auto; white-space: pre; border-inline-start: 3px solid color-mix(in srgb, currentColor 35%, transparent); }
pre.failed { border-inline-start: 3px double; }
.buttons { display: flex; flex-wrap: wrap; gap: .5rem; margin-top: .75rem; }
button { font: inherit; color: inherit; background: transparent; border: 1px solid currentColor; border-radius: .375rem; padding: .3em .8em; min-height: 2rem; cursor: pointer; }
button[aria-disabled=true] { opacity: .7; border-style: dashed; cursor: default; }
:focus-visible { outline: 2px solid; outline-offset: 2px; }
[role=status] { margin: .5em 0 0; min-height: 1.45em; }
.table { overflow-x: auto; max-height: 24em; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: start; padding: .15em .75em .15em 0; vertical-align: top; }
summary { margin-top: .5em; cursor: pointer; min-height: 1.5rem; }
`

/** made creates an element. */
function made<K extends keyof HTMLElementTagNameMap>(name: K, props: Partial<HTMLElementTagNameMap[K]> = {}, ...children: (Node | string)[]): HTMLElementTagNameMap[K] {
  const element = Object.assign(document.createElement(name), props)
  element.append(...children)
  return element
}

/** Base is HTMLElement if it exists. Otherwise the module is being imported on a server that renders pages. */
const Base = globalThis.HTMLElement ?? (class {} as typeof HTMLElement)

/** KubesimEmbed is the element kubesim-embed. */
export class KubesimEmbed extends Base {
  private text = ''
  private steps: Step[] = []
  private engine: Engine | undefined
  private done = 0
  private frames: Frame[] = []

  private readonly list = made('ol')
  private readonly status = made('p')
  private readonly rows = made('tbody')
  private readonly count = made('summary')
  private booted = false
  private running = false
  private readonly next = made('button', { type: 'button', textContent: 'Run the next line', onclick: () => { void this.run(this.done + 1) } })
  private readonly buttons = made('div', { className: 'buttons', hidden: true })
  private readonly happened = made('details', { hidden: true })
  private readonly all = made('button', { type: 'button', textContent: 'Run all', onclick: () => { void this.run(this.steps.length) } })
  private readonly again = made('button', { type: 'button', textContent: 'Start again', onclick: () => this.restart() })

  /** connectedCallback shows the lines when the element is added to a page. */
  connectedCallback(): void {
    if (this.shadowRoot) return
    const root = this.attachShadow({ mode: 'open' })
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(css)
    root.adoptedStyleSheets = [sheet]
    this.status.setAttribute('role', 'status')
    const head = made('tr', {}, ...['Revision', 'Where', 'What'].map(text => made('th', { scope: 'col', textContent: text })))
    const table = made('div', { className: 'table', tabIndex: 0, role: 'region', ariaLabel: 'What happened' }, made('table', {}, made('thead', {}, head), this.rows))
    this.buttons.append(this.next, this.all, this.again)
    this.happened.append(this.count, table)
    root.append(made('div', { lang: 'en', role: 'group', ariaLabel: 'kubesim: commands to run' }, this.list, this.buttons, this.status, this.happened))
    this.draw()
    void this.read()
  }

  /** disconnectedCallback stops the engine when the element is removed. The lines can be run again if it is added again. */
  disconnectedCallback(): void {
    queueMicrotask(() => {
      if (this.isConnected) return // it was only moved
      this.engine?.stop()
      this.engine = undefined
    })
  }

  // read reads the scenario: the attribute scenario, the file that src names, or the text in the element.
  private async read(): Promise<void> {
    const src = this.getAttribute('src')
    try {
      this.text = this.getAttribute('scenario') ?? (src === null ? this.textContent ?? '' : await textOf(src))
      this.steps = stepsOf(this.text)
      if (this.steps.length === 0) throw new Error('this kubesim-embed has no lines: write them into its attribute scenario, or name a file in src')
      this.list.replaceChildren(...this.steps.map(({ line, comment }) =>
        made('li', {}, ...comment ? [made('p', { textContent: comment })] : [], made('code', { className: 'line', textContent: line }))))
      this.draw()
    } catch (error) {
      this.say((error as Error).message)
    }
  }

  /** run runs the lines up to number `to` and shows their answers. */
  async run(to: number): Promise<void> {
    if (this.running) return
    this.busy(true)
    try {
      while (this.done < Math.min(to, this.steps.length)) await this.step()
    } catch (error) {
      const item = this.list.children[this.done]
      item?.querySelector('pre')?.remove()
      item?.append(made('pre', { className: 'failed', textContent: (error as Error).message, tabIndex: 0 }))
      this.say(`Line ${this.done + 1} cannot run. `, (error as Error).message)
    }
    this.busy(false)
  }

  // step runs the next line.
  private async step(): Promise<void> {
    const n = this.done + 1
    const engine = await this.seek(n)
    const { data } = engine.ask<{ data: { from: number; results: Outcome[] } }>('query', { view: 'results' })
    const outcome = data.results[n - 1 - data.from]
    this.list.children[n - 1]?.querySelector('pre')?.remove()
    if (outcome && outcome.lines.length > 0) {
      this.list.children[n - 1]?.append(made('pre', { textContent: outcome.lines.map(line => line.replace(/^ {3}/, '')).join('\n'), className: outcome.ok ? '' : 'failed', tabIndex: 0 }))
    }
    this.done = n
    this.say(`Line ${n} of ${this.steps.length} ${outcome?.ok === false ? 'failed' : 'has run'}. `, outcome?.lines.slice(0, 3).join(' '))
  }

  // seek runs the lines up to number n in an engine that has the data they need.
  private async seek(n: number): Promise<Engine> {
    for (;;) {
      const engine = this.engine ?? await this.load('core')
      try {
        if (!this.booted) this.boot(engine)
        engine.ask('seek', { n })
        return engine
      } catch (error) {
        if (!(error instanceof Refused && error.needs)) throw error
        if (error.needs === 'cel') await this.load('cel')
        else await engine.loadSchema(error.needs)
      }
    }
  }

  // load replaces the engine.
  private async load(name: EngineName): Promise<Engine> {
    this.say('Loading the simulator …')
    const engine = await Engine.load(name)
    engine.onMessage = message => this.receive(message)
    this.engine?.stop()
    this.engine = engine
    this.booted = false
    return engine
  }

  // boot creates the world with the lines that have run.
  private boot(engine: Engine): void {
    const { head } = engine.ask<{ head: { total: number } }>('boot', { scenario: this.text, cursor: this.done })
    if (head.total !== this.steps.length) throw new Error(`the scenario has ${head.total} lines, and ${this.steps.length} are shown: please report this`)
    this.booted = true
  }

  /** restart resets the world and removes the answers. */
  restart(): void {
    if (this.running || this.done === 0) return
    this.done = 0
    this.frames = []
    if (this.engine) this.boot(this.engine)
    for (const answer of this.list.querySelectorAll('pre')) answer.remove()
    this.draw()
    this.say('Nothing has run yet.')
  }

  private receive(message: Message): void {
    if (message.kind !== 'frames') return
    const frames = message.frames as Frame[]
    const kept = message.reset ? (message.keep as number) : this.frames.length
    this.frames = [...this.frames.slice(0, kept), ...frames]
  }

  private busy(busy: boolean): void {
    this.running = busy
    this.draw()
  }

  // draw marks the next line and lists the frames. Buttons are marked with aria-disabled instead of disabled, so that they keep the focus.
  private draw(): void {
    const over = this.running || this.done >= this.steps.length
    this.next.ariaDisabled = `${over}`
    this.all.ariaDisabled = `${over}`
    this.again.ariaDisabled = `${this.running || this.done === 0}`
    for (const [i, item] of [...this.list.children].entries()) {
      if (i === this.done) item.setAttribute('aria-current', 'step')
      else item.removeAttribute('aria-current')
    }
    this.buttons.hidden = this.steps.length === 0
    this.happened.hidden = this.frames.length === 0
    this.count.textContent = `What happened (${this.frames.length})`
    const most = 500
    this.rows.replaceChildren(...this.frames.slice(-most).map(({ rv, lane, text, kind }) =>
      made('tr', {}, ...[rv, lane, text || kind].map(cell => made('td', { textContent: cell })))))
  }

  // say sets the status line. Screen readers also read heard, which is visible elsewhere.
  private say(text: string, heard = ''): void {
    this.status.replaceChildren(text, made('span', { className: 'heard', textContent: heard }))
  }
}

async function textOf(src: string): Promise<string> {
  const response = await fetch(new URL(src, document.baseURI))
  if (!response.ok) throw new Error(`${src} cannot be loaded: ${response.status}`)
  return response.text()
}

if (globalThis.customElements && !customElements.get('kubesim-embed')) customElements.define('kubesim-embed', KubesimEmbed)
