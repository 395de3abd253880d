// Detail shows one object: as text to edit, with its field owners, as a comparison of two revisions, as protobuf, or on two servers.
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Field, Owners } from '../engine/protocol'
import { Fields } from '../console/Fields'
import { draftKey, drafts, dropDraft, keepDraft } from '../state/drafts'
import { manifests, putManifest } from '../state/manifests'
import { mode, object } from '../state/page'
import { head, query, ready } from '../state/session'
import { text } from '../text'
import { later } from '../ui/later'
import { Compare } from './Compare'
import { ManifestEditor } from './ManifestEditor'
import { OwnerBands } from './OwnerBands'

const shown = signal<{ key: string; rv: string; text: string } | null>(null)
const owners = signal<Owners | null>(null)
const wire = signal<Field[] | null>(null)
const words = text.objects
const Skew = later(() => import('./Skew'))

export default function Detail({ at }: { at: string | undefined }) {
  const of = object.value
  useEffect(() => {
    if (!of || !ready.value) return
    let current = true
    const set = (show: () => void) => { if (current) show() }
    if (mode.value === 'edit') {
      const address = `${of.resource}/${of.ns}/${of.name}`
      query<{ text: string; rv: string }>('object', { ...of, at, format: 'yaml' }).then(
        answer => set(() => { shown.value = { key: draftKey(answer.text, address), rv: answer.rv, text: answer.text } }),
        () => set(() => { shown.value = null }),
      )
    } else if (mode.value === 'owners') {
      query<Owners>('owners', { ...of, at }).then(answer => set(() => { owners.value = answer }), () => set(() => { owners.value = null }))
    } else if (mode.value === 'wire') {
      query<{ fields: Field[] }>('object', { ...of, at, format: 'protobuf' })
        .then(answer => set(() => { wire.value = answer.fields }), () => set(() => { wire.value = null }))
    }
    return () => { current = false }
  }, [of, at, mode.value, head.value, ready.value])
  return (
    <div class="detail">
      <div class="split">
        <h2 class="mono">{of ? `${of.resource} ${of.ns ? `${of.ns}/` : ''}${of.name}` : words.newObject}</h2>
        {of && (
          <div class="forms" role="group" aria-label={words.view}>
            {(['edit', 'owners', 'diff', 'wire', 'skew'] as const).map(name => (
              <button key={name} class="quiet" aria-pressed={mode.value === name} onClick={() => { mode.value = name }}>
                {words[name]}
              </button>
            ))}
          </div>
        )}
      </div>
      {!of && <NewManifest />}
      {of && mode.value === 'edit' && (shown.value ? <Existing of={of} {...shown.value} id={shown.value.key} /> : <p class="hint">{words.none(of.name)}</p>)}
      {of && mode.value === 'owners' && owners.value && <OwnerBands owners={owners.value} />}
      {of && mode.value === 'diff' && <Compare of={of} at={at} />}
      {of && mode.value === 'skew' && <Skew of={of} />}
      {of && mode.value === 'wire' && (wire.value ? <Fields fields={wire.value} /> : <p class="hint">{words.none('protobuf')}</p>)}
    </div>
  )
}

// Existing is the editor of an existing object. It is reset when another object is shown or the object changes, unless there is a draft. A
// draft stays, with a note if the object has changed since.
function Existing({ of, id, rv, text: value }: { of: Address; id: string; rv: string; text: string }) {
  const draft = drafts.value[id]
  const late = draft && draft.rv !== rv
  return (
    <>
      {late && (
        <p class="note">{words.changed(draft.rv, rv)} <button class="quiet" onClick={() => dropDraft(id)}>{words.discard}</button></p>
      )}
      <ManifestEditor key={draft ? `${id}/${draft.rv}` : `${id}/${rv}`} value={draft?.content ?? value} of={of}
        onChange={content => keepDraft(id, { rv: draft?.rv ?? rv, content }, value)} onSent={() => dropDraft(id)} />
    </>
  )
}

type Address = { resource: string; ns: string; name: string }

const file = signal('configmap.yaml')

function NewManifest() {
  return (
    <>
      <label><span>{words.editor}</span>
        <select value={file.value} onChange={event => { file.value = event.currentTarget.value }}>
          {Object.keys(manifests.value).map(name => <option key={name}>{name}</option>)}
        </select>
      </label>
      <ManifestEditor key={file.value} value={manifests.value[file.value] ?? ''} file={file.value}
        onChange={content => putManifest(file.value, content)} />
    </>
  )
}
