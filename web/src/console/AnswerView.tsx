// AnswerView shows one request and its answer: the headers, and the body in the form that is easiest to read.
import { useSignal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import type { Exchange, Field, Header, Token } from '../engine/protocol'
import { mode, object, resource, tab } from '../state/page'
import { query } from '../state/session'
import { text } from '../text'
import { Icon } from '../ui/Icon'
import { Fields } from './Fields'

type Form = 'table' | 'json' | 'yaml' | 'protobuf' | 'headers'
type Answer = NonNullable<Exchange['res']> & { fields?: Field[] }

interface Body {
  kind?: string
  metadata?: { continue?: string; name?: string; namespace?: string; managedFields?: unknown[] }
  columnDefinitions?: { name: string; priority?: number }[]
  rows?: { cells: unknown[] }[]
}

const words = text.console

export function AnswerView({ exchange }: { exchange: Exchange }) {
  const { req, res } = exchange
  return (
    <div class="exchange">
      <p class="mono call"><b>{req.method}</b> <span>{req.path}</span></p>
      <details>
        <summary>{words.request}: {words.headersOf}{req.body ? `, ${words.body}` : ''}</summary>
        <Headers headers={req.headers} />
        {req.body && <pre lang="en" tabIndex={0}>{pretty(req.body)}</pre>}
      </details>
      {res ? <Answered key={exchange.n} res={res as Answer} path={req.path} frame={exchange.n ?? 0} /> : <p class="hint">{text.inspector.waiting}</p>}
    </div>
  )
}

function Answered({ res, path, frame }: { res: Answer; path: string; frame: number }) {
  const body = res.encoding === 'base64' ? null : parse(res.body)
  const chosen = useSignal<Form | ''>('')
  const forms: Form[] = res.encoding === 'base64' ? ['protobuf', 'headers'] : ['table', 'yaml', 'json', 'headers']
  const natural: Form = res.encoding === 'base64' ? 'protobuf' : body?.kind === 'Table' ? 'table' : 'yaml'
  const shown = chosen.value && forms.includes(chosen.value) ? chosen.value : natural
  return (
    <div class="answered">
      <div class="split">
        <p class={res.code >= 400 ? 'bad mono' : 'mono'}><b>{res.code}</b> {res.reason}</p>
        <div class="forms" role="group" aria-label={words.answer}>
          {forms.map(name => (
            <button key={name} class="quiet" aria-pressed={name === shown} onClick={() => { chosen.value = name }}>
              {words.formats[name]}
            </button>
          ))}
        </div>
      </div>
      {body?.metadata?.managedFields && <OwnersLink body={body} path={path} />}
      {body?.metadata?.continue && <TokenNote token={body.metadata.continue} />}
      {shown === 'headers' && <Headers headers={res.headers} />}
      {shown === 'table' && <TableBody body={body} />}
      {shown === 'yaml' && (body ? <YAML frame={frame} /> : <pre lang="en" tabIndex={0}>{res.body || text.inspector.noBody}</pre>)}
      {shown === 'json' && <pre lang="en" tabIndex={0}>{pretty(res.body) || text.inspector.noBody}</pre>}
      {shown === 'protobuf' && (res.fields ? <Fields fields={res.fields} /> : <pre lang="en" tabIndex={0}>{hex(res.body)}</pre>)}
    </div>
  )
}

// YAML shows a body in the format of kubectl. The engine formats it.
function YAML({ frame }: { frame: number }) {
  const [printed, setPrinted] = useState('')
  useEffect(() => { query<{ text: string }>('yaml', { frame }).then(answer => setPrinted(answer.text), () => setPrinted('')) }, [frame])
  return <pre lang="en" tabIndex={0}>{printed}</pre>
}

// resourceOf returns the resource in a request's path as objects are addressed, for example configmaps or deployments.apps.
function resourceOf(path: string): string {
  const parts = /^\/(?:api\/v1|apis\/([^/]+)\/[^/]+)\/(?:namespaces\/[^/]+\/)?([^/?]+)/.exec(path)
  return parts ? [parts[2], parts[1]].filter(Boolean).join('.') : ''
}

function OwnersLink({ body, path }: { body: Body; path: string }) {
  const of = { resource: resourceOf(path), ns: body.metadata?.namespace ?? '', name: body.metadata?.name ?? '' }
  if (!of.resource || !of.name) return null
  const open = () => {
    resource.value = of.resource
    object.value = of
    mode.value = 'owners'
    tab.value = 'objects'
  }
  return <p><button class="quiet" onClick={open}>{words.owners} <Icon name="arrow" /></button></p>
}

function parse(body: string): Body | null {
  try {
    return JSON.parse(body) as Body
  } catch {
    return null
  }
}

function pretty(body: string): string {
  const value = parse(body)
  return value === null ? body : JSON.stringify(value, null, 2)
}

function hex(base64: string): string {
  const bytes = [...atob(base64)].map(c => c.charCodeAt(0).toString(16).padStart(2, '0'))
  return bytes.join(' ').replace(/((?:\S+ ){16})/g, '$1\n')
}

function Headers({ headers }: { headers: Header[] }) {
  return (
    <dl class="headers mono">
      {headers.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}
    </dl>
  )
}

function TableBody({ body }: { body: Body | null }) {
  if (body?.kind !== 'Table' || !body.columnDefinitions) return <p class="hint">{words.noTable} <code>-o table</code></p>
  const columns = body.columnDefinitions.map((column, i) => ({ ...column, i })).filter(column => !column.priority)
  return (
    <div class="scroll" tabIndex={0}>
      <table>
        <thead><tr>{columns.map(column => <th key={column.i} scope="col">{column.name}</th>)}</tr></thead>
        <tbody>
          {(body.rows ?? []).map((row, i) => (
            <tr key={i}>{columns.map(column => <td key={column.i}>{String(row.cells[column.i] ?? '')}</td>)}</tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function says({ start, rv, inconsistent, expired }: Token): string {
  if (inconsistent) return words.tokenNow(start)
  return expired ? words.tokenForgotten(start, rv) : words.tokenAt(start, rv)
}

// TokenNote shows the contents of a continue token: where the next page begins, its revision, and whether the server still accepts it.
function TokenNote({ token }: { token: string }) {
  const [opened, setOpened] = useState<Token | null>(null)
  useEffect(() => { query<Token>('token', { token }).then(setOpened, () => setOpened(null)) }, [token])
  return (
    <div class="note">
      <p><b>{words.token}</b> {opened && says(opened)}</p>
      <p class="mono wrap">{token}</p>
    </div>
  )
}
