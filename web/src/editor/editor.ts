// The editor chunk, loaded when a manifest is first shown. The editor is in a shadow root, where CodeMirror uses constructed style sheets,
// which the page's policy (style-src 'self') allows, instead of <style> elements, which it forbids.
import { defaultKeymap, history, historyKeymap, indentLess, indentMore } from '@codemirror/commands'
import { json } from '@codemirror/lang-json'
import { yaml } from '@codemirror/lang-yaml'
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language'
import { EditorState, StateEffect, StateField } from '@codemirror/state'
import { Decoration, drawSelection, EditorView, type DecorationSet, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import type { Complaint } from './locate'

export interface Editor {
  complain(problems: Complaint[]): void
  /** before returns the text before the cursor. */
  before(): string
  /** put replaces the last `instead` characters before the cursor with text, and focuses the editor. */
  put(text: string, instead: number): void
  destroy(): void
}

export interface Options {
  value: string
  label: string
  onChange(content: string): void
  onSubmit(): void
}

const look = EditorView.theme({
  '&': { color: 'var(--ink)', backgroundColor: 'var(--sheet)', fontSize: '13px', border: '1px solid var(--rule)', borderRadius: '6px' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '1px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55', maxHeight: '340px', minHeight: '180px' },
  '.cm-content': { caretColor: 'var(--accent)' },
  '.cm-cursor': { borderLeftColor: 'var(--accent)', borderLeftWidth: '2px' },
  '.cm-gutters': { color: 'var(--soft)', backgroundColor: 'var(--well)', border: 'none', borderRadius: '6px 0 0 6px' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'color-mix(in oklab, var(--wash) 45%, transparent)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': { background: 'var(--wash)' },
  '.cm-refused': { backgroundColor: 'var(--bad-wash)', boxShadow: 'inset 3px 0 var(--bad)' },
  '.cm-tooltip': { backgroundColor: 'var(--sheet)', color: 'var(--ink)', border: '1px solid var(--line)' },
})

// marked are the lines with problems, until the next call of complain; they move with edits. CodeMirror's lint extension would need data:
// images, which the page's policy forbids.
const mark = StateEffect.define<DecorationSet>()
const marked = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(lines, transaction) {
    for (const effect of transaction.effects) if (effect.is(mark)) return effect.value
    return lines.map(transaction.changes)
  },
  provide: field => EditorView.decorations.from(field),
})

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--accent)' },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: 'var(--ink)', fontWeight: '600' },
  { tag: tags.comment, color: 'var(--soft)', fontStyle: 'italic' },
])

/** mount creates an editor in host. Tab indents; Escape followed by Tab leaves the editor. */
export function mount(host: HTMLElement, options: Options): Editor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' })
  const language = options.value.trimStart().startsWith('{') ? json() : yaml()
  let leaving = false
  const view = new EditorView({
    root,
    parent: root as unknown as HTMLElement,
    state: EditorState.create({
      doc: options.value,
      extensions: [
        lineNumbers(), history(), drawSelection(), highlightActiveLine(), indentOnInput(), bracketMatching(), marked,
        language, look, syntaxHighlighting(colours),
        EditorView.contentAttributes.of({ 'aria-label': options.label, tabindex: '0' }),
        EditorView.domEventHandlers({
          keydown: event => { if (event.key !== 'Tab' && event.key !== 'Shift') leaving = event.key === 'Escape' },
          focus: () => { leaving = false },
          beforeinput: overSelection,
        }),
        keymap.of([
          { key: 'Mod-Enter', run: () => { options.onSubmit(); return true } },
          { key: 'Tab', run: view => !leaving && indentMore(view), shift: view => !leaving && indentLess(view) },
          ...defaultKeymap, ...historyKeymap,
        ]),
        EditorView.updateListener.of(update => { if (update.docChanged) options.onChange(update.state.doc.toString()) }),
      ],
    }),
  })
  const put = (text: string, instead: number) => {
    const { head } = view.state.selection.main
    view.dispatch({ changes: { from: Math.max(0, head - instead), to: head, insert: text }, selection: { anchor: Math.max(0, head - instead) + text.length } })
    view.focus()
  }
  const before = () => view.state.sliceDoc(0, view.state.selection.main.head)
  return { complain: problems => complain(view, problems), before, put, destroy: () => view.destroy() }
}

// overSelection replaces the selection with the typed text. The browser's own replacement creates spans with inline styles, which the
// page's policy forbids and reports.
function overSelection(event: InputEvent, view: EditorView): boolean {
  if (event.inputType !== 'insertText' || event.data === null || view.state.selection.main.empty) return false
  view.dispatch(view.state.replaceSelection(event.data), { userEvent: 'input.type' })
  return true
}

function complain(view: EditorView, problems: Complaint[]): void {
  const { doc } = view.state
  const lines = problems.filter(problem => problem.line > 0 && problem.line <= doc.lines).map(({ line, text }) =>
    Decoration.line({ class: 'cm-refused', attributes: { title: text } }).range(doc.line(line).from))
  view.dispatch({ effects: mark.of(Decoration.set(lines, true)) })
}
