// Lines for a served cluster: each corresponds to one request, to its API server or below /sim/v1/.
import type { Resource } from '../engine/protocol'
import { says } from './texts'

export interface Sent {
  method: string
  path: string
  body?: string
  type?: string
}

/** words splits a line into words; quotes keep a word together. */
export function words(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, single, double, bare]) => single ?? double ?? bare ?? '')
}

/** requestOf returns the request that a line stands for. It throws if there is none. */
export function requestOf(line: string, files: Record<string, string>, resources: readonly Resource[]): Sent {
  const all = words(line)
  const flag = (...names: string[]) => {
    const at = all.findIndex(word => names.includes(word))
    return at < 0 ? undefined : all.splice(at, 2)[1]
  }
  const everywhere = all.includes('-A')
  const namespace = flag('-n', '--namespace') ?? 'default'
  const file = flag('-f', '--filename')
  const header = flag('-H')
  const [verb = '', what = '', ...more] = all.filter(word => word !== '-A')
  const text = file === undefined ? undefined : files[file]
  switch (verb) {
    case 'compact': case 'expire': return { method: 'POST', path: `/sim/v1/${verb}` }
    case 'tick': return { method: 'POST', path: `/sim/v1/${what === 'settled' ? 'controllers/settle' : `clock/advance?d=${encodeURIComponent(what)}`}` }
    case 'stepped': return { method: 'POST', path: `/sim/v1/controllers/stepped?wait=${what === 'yes'}` }
    case 'reconcile': return { method: 'POST', path: '/sim/v1/controllers/step' }
    case 'fault': return what === 'clear' ? { method: 'DELETE', path: '/sim/v1/faults' } : { method: 'POST', path: '/sim/v1/faults', body: line.trim().slice('fault '.length) }
    case 'request': return sent(what, more[0] ?? '/', text, header?.replace(/^content-type:\s*/i, ''))
    case 'get': case 'list': return { method: 'GET', path: pathOf(find(what, resources), everywhere ? '' : namespace, more[0]) }
    case 'delete': return { method: 'DELETE', path: pathOf(find(what, resources), namespace, more[0]) }
    case 'create': case 'replace': case 'apply': return write(verb, text, namespace, resources)
  }
  if (troubles.includes(verb) && what) return trouble(verb, what, more)
  throw new Error(says().takes(verb))
}

const troubles = ['lag', 'cut', 'resume', 'restart', 'unready', 'stall', 'close', 'stop', 'start', 'crash', 'slow', 'step']

// trouble returns the request that disturbs a server, given by its number, or a controller, given by its name (package sim/trouble).
function trouble(verb: string, target: string, more: readonly string[]): Sent {
  const parameter = { unready: 'for', slow: 'for', stall: 'after', lag: 'resource' }[verb]
  const query = parameter && more[0] ? `?${parameter}=${encodeURIComponent(more[0])}` : ''
  return { method: 'POST', path: `/sim/v1/${/^\d+$/.test(target) ? 'replicas' : 'controllers'}/${target}/${verb}${query}` }
}

function sent(method: string, path: string, body?: string, type?: string): Sent {
  return { method, path, ...(body === undefined ? {} : { body, type: type ?? 'application/yaml' }) }
}

function find(name: string, resources: readonly Resource[]): Resource {
  const [plural = '', ...group] = name.split('.')
  const found = resources.find(of => (of.resource === plural || of.kind.toLowerCase() === plural.toLowerCase() || of.short?.includes(plural))
    && (group.length === 0 || of.group === group.join('.')))
  if (!found) throw new Error(says().noResource(name))
  return found
}

function pathOf({ group, version, resource, namespaced }: Resource, namespace: string, name?: string): string {
  const root = group ? `/apis/${group}/${version}` : `/api/${version}`
  return `${root}${namespaced && namespace ? `/namespaces/${namespace}` : ''}/${resource}${name ? `/${name}` : ''}`
}

// write returns the request that sends a manifest to the resource of its kind.
function write(verb: string, text: string | undefined, namespace: string, resources: readonly Resource[]): Sent {
  if (text === undefined) throw new Error(says().noManifest(verb))
  const field = (name: string) => new RegExp(`^\\s*"?${name}"?:\\s*"?([^"\\s,]+)`, 'm').exec(text)?.[1] ?? ''
  const [group, version] = field('apiVersion').includes('/') ? field('apiVersion').split('/') as [string, string] : ['', field('apiVersion')]
  const kind = resources.find(of => of.kind === field('kind') && of.group === group && !of.resource.includes('/'))
  if (!kind) throw new Error(says().noKind(field('kind'), field('apiVersion')))
  const path = pathOf({ ...kind, version }, namespace, verb === 'create' ? undefined : field('name'))
  if (verb === 'apply') return { method: 'PATCH', path: `${path}?fieldManager=kubesim`, body: text, type: 'application/apply-patch+yaml' }
  return { method: verb === 'create' ? 'POST' : 'PUT', path, body: text, type: 'application/yaml' }
}
