// RawRequest is the form for any HTTP request: method, path with completion from discovery, headers, body. It runs the line `request …`, so
// that the request is in the log like every other operation.
import { signal } from '@preact/signals'
import type { Resource } from '../engine/protocol'
import { manifests } from '../state/manifests'
import { namespaces, ready, resources, run } from '../state/session'
import { text } from '../text'
import { Inspector } from '../ui/Inspector'

const method = signal('GET')
const path = signal('/api/v1/namespaces/default/configmaps')
const headers = signal('Accept: application/json')
const body = signal('')
const bodyName = 'request-body.json'
const tableAccept = 'application/json;as=Table;v=v1;g=meta.k8s.io'

const accepts: Record<string, string> = {
  json: 'application/json', yaml: 'application/yaml',
  protobuf: 'application/vnd.kubernetes.protobuf', table: tableAccept,
}

/** paths returns the paths of the collections of resources, for each of the given namespaces. */
export function paths(of: readonly Resource[], spaces: readonly string[]): string[] {
  return of.flatMap(({ group, version, resource, namespaced }) => {
    const root = group ? `/apis/${group}/${version}` : `/api/${version}`
    const scoped = namespaced ? spaces.map(ns => `${root}/namespaces/${ns}/${resource}`) : []
    return [`${root}/${resource}`, ...scoped]
  })
}

/** quote returns a text as one word of the scenario language. */
export function quote(word: string): string {
  return /^[\w@%+=:,./?&-]+$/.test(word) && !word.includes('&') ? word : `'${word.replaceAll("'", `'"'"'`)}'`
}

function send(): void {
  const flags = headers.value.split('\n').map(h => h.trim()).filter(Boolean).map(h => `-H ${quote(h)}`)
  const files: Record<string, string> = {}
  if (body.value) {
    files[bodyName] = body.value
    flags.push(`-f ${bodyName}`)
    if (!/^content-type:/im.test(headers.value)) flags.push(`-H 'Content-Type: ${bodyType()}'`)
  }
  void run(['request', method.value, quote(path.value), ...flags].join(' '), files)
}

function bodyType(): string {
  if (method.value === 'PATCH') return 'application/merge-patch+json'
  return body.value.trimStart().startsWith('{') ? 'application/json' : 'application/yaml'
}

function ask(format: string): void {
  const others = headers.value.split('\n').filter(h => h.trim() && !/^accept:/i.test(h))
  headers.value = [`Accept: ${accepts[format]}`, ...others].join('\n')
}

export default function RawRequest() {
  const words = text.http
  return (
    <div class="two">
      <form class="raw" onSubmit={event => { event.preventDefault(); send() }}>
        <div class="split">
          <label><span>{words.method}</span>
            <select value={method.value} onChange={event => { method.value = event.currentTarget.value }}>
              {['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map(name => <option key={name}>{name}</option>)}
            </select>
          </label>
          <label class="grow"><span>{words.path}</span>
            <input class="mono" list="paths" value={path.value} spellcheck={false} autocomplete="off"
              onInput={event => { path.value = event.currentTarget.value }} />
          </label>
          <datalist id="paths">{paths(resources.value, namespaces.value).map(name => <option key={name} value={name} />)}</datalist>
        </div>
        <div class="forms" role="group" aria-label={words.accept}>
          {Object.entries(words.formats).map(([key, name]) => (
            <button key={key} type="button" class="quiet" aria-pressed={headers.value.includes(`Accept: ${accepts[key]}\n`) || headers.value.endsWith(`Accept: ${accepts[key]}`)}
              onClick={() => ask(key)}>{name}</button>
          ))}
        </div>
        <label><span>{words.headers}</span>
          <textarea class="mono" rows={2} value={headers.value} spellcheck={false}
            onInput={event => { headers.value = event.currentTarget.value }} />
        </label>
        <label><span>{words.body}</span>
          <textarea class="mono" rows={7} value={body.value} spellcheck={false}
            onInput={event => { body.value = event.currentTarget.value }} />
        </label>
        <div class="split">
          <button class="primary" type="submit" aria-disabled={!ready.value}>{words.send}</button>
          <select aria-label={words.body} value="" onChange={event => { body.value = manifests.value[event.currentTarget.value] ?? '' }}>
            <option value="">{text.objects.editor}…</option>
            {Object.keys(manifests.value).map(name => <option key={name} value={name}>{name}</option>)}
          </select>
        </div>
      </form>
      <Inspector />
    </div>
  )
}
