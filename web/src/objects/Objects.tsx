// Objects shows the stored objects as tables, at the revision in view, and one object in detail.
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Resource, Table } from '../engine/protocol'
import { mode, object, resource } from '../state/page'
import { live, revisionInView } from '../state/player'
import { head, namespaces, query, ready, resources } from '../state/session'
import { text } from '../text'
import { later } from '../ui/later'

const Detail = later(() => import('./Detail'))
const words = text.objects
const mostRows = 200 // the most rows that are requested and drawn
const namespace = signal('')
const table = signal<Table | null>(null)
const failure = signal('')

/** address returns the name of a resource for the engine and the command line, for example configmaps or deployments.apps. */
export function address(of: Resource): string {
  return of.group ? `${of.resource}.${of.group}` : of.resource
}

// listed returns the resources that can be listed, without the duplicates of resources that are served in several versions.
function listed(): string[] {
  return [...new Set(resources.value.filter(of => of.verbs.includes('list')).map(address))]
}

export default function Objects() {
  const at = live.value ? undefined : revisionInView.value
  useEffect(() => {
    if (!ready.value) return
    query<Table>('table', { resource: resource.value, ns: namespace.value, at, limit: mostRows }).then(
      answer => { table.value = answer; failure.value = '' },
      (error: Error) => { table.value = null; failure.value = error.message },
    )
  }, [head.value, resource.value, namespace.value, at, ready.value])
  return (
    <div class="two objects">
      <div>
        <div class="split">
          <label><span>{words.resource}</span>
            <select value={resource.value} onChange={event => { resource.value = event.currentTarget.value; object.value = null }}>
              {listed().map(name => <option key={name}>{name}</option>)}
            </select>
          </label>
          <label><span>{words.namespace}</span>
            <select value={namespace.value} onChange={event => { namespace.value = event.currentTarget.value }}>
              <option value="">{words.all}</option>
              {namespaces.value.map(ns => <option key={ns}>{ns}</option>)}
            </select>
          </label>
          <button class="push" onClick={() => { object.value = null; mode.value = 'edit' }}>{words.newObject}</button>
        </div>
        {at && <p class="hint">{words.at(at)}</p>}
        {failure.value && <p class="bad">{failure.value}</p>}
        {table.value && <Rows table={table.value} />}
      </div>
      <Detail at={at} />
    </div>
  )
}

function Rows({ table }: { table: Table }) {
  if (table.rows.length === 0) return <p class="nothing">{words.none(resource.value)}</p>
  const { rows } = table
  const columns = table.columns.map((column, i) => ({ ...column, i })).filter(column => column.priority === 0)
  const spaces = new Set(table.rows.map(row => row.ns)).size > 1
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            {spaces && <th scope="col">Namespace</th>}
            {columns.map(column => <th key={column.name} scope="col">{column.name}</th>)}
            <th scope="col" class="num">rv</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(row => {
            const open = object.value?.name === row.name && object.value.ns === row.ns
            return (
              <tr key={row.uid || `${row.ns}/${row.name}`} class={[open && 'on', row.deleting && 'deleting'].filter(Boolean).join(' ')}>
                {spaces && <td>{row.ns}</td>}
                {columns.map((column, i) => (
                  <td key={column.name}>
                    {i > 0 ? row.cells[column.i] : (
                      <button class="row" aria-pressed={open}
                        onClick={() => { object.value = { resource: resource.value, ns: row.ns, name: row.name } }}>
                        {row.cells[column.i]}
                      </button>
                    )}
                  </td>
                ))}
                <td class="num">{row.rv}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
      {rows.length < table.all && <p class="hint">{words.first(rows.length, table.all)}</p>}
    </div>
  )
}
