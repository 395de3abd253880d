// Served replaces the page's engine with a cluster that kubesim serves. It follows the cluster's trace, answers views from its API server,
// and sends lines as requests to it or below /sim/v1/. The cluster is shared, so there is no undo and no log.
import type { FramesMessage } from '../engine/engine'
import type { Controller, Head, Resource, Table } from '../engine/protocol'
import { says } from './texts'
import { requestOf } from './lines'
import { Tracer, type Entry } from './frames'
import { token, user, wanted } from './token'

const pause = 250 // ms during which records are collected before they are shown
const most = 20_000 // records that are kept; beyond that, the older half is dropped

/** Refusal is the error for an unauthenticated (401) or forbidden (403) request. */
export class Refusal extends Error {}

export class Served {
  readonly name = 'core'
  onFrames: (message: FramesMessage) => void = () => {}
  onExit: (text: string) => void = () => {}
  onHead: (head: Head) => void = () => {}

  private readonly ended = new AbortController()
  private controllers = new Set<string>()
  private tracer = new Tracer()
  private begun = false
  private waiting: Entry[] = []
  private kept: Entry[] = []
  private count = 0
  private resources: Resource[] = []
  private timer = 0
  private lines = 0

  async ask<T>(kind: string, body: Record<string, unknown> = {}): Promise<T> {
    switch (kind) {
      case 'boot': return await this.boot() as T
      case 'do': return await this.carryOut(body['op'] as { line: string; files?: Record<string, string> }) as T
      case 'query': return { data: await this.view(String(body['view']), body) } as T
      default: throw new Error(says().noWayBack(kind))
    }
  }

  stop(): void {
    this.ended.abort()
    clearTimeout(this.timer)
  }

  private async boot(): Promise<object> {
    const { gitVersion } = JSON.parse(await this.get('/version'))
    user.value = await this.whoAmI()
    await this.discover()
    if (!token()) await this.names('/api/v1/namespaces') // if the anonymous user may not do this, the page asks for a token
    await this.report().then(({ controllers }) => { this.controllers = new Set(controllers.map(({ name }) => name)) }, mayNot)
    this.tracer = new Tracer(this.controllers)
    void this.follow().catch((error: Error) => {
      if (this.ended.signal.aborted) return
      if (error instanceof Refusal) wanted.value = error.message
      else this.onExit(error.message)
    })
    return { head: this.head(), version: gitVersion }
  }

  // follow reads the trace while it grows.
  private async follow(): Promise<void> {
    const answer = await this.send('/sim/v1/trace?follow=1')
    if (!answer.ok || !answer.body) throw refused(answer.status, await answer.text())
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
    let rest = ''
    for (;;) {
      const { done, value } = await reader.read()
      if (done) throw new Error(says().ended)
      const lines = (rest + value).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) if (line) this.waiting.push(JSON.parse(line) as Entry)
      this.timer ||= window.setTimeout(() => this.deliver(), pause)
    }
  }

  private deliver(): void {
    this.timer = 0
    const fresh = this.waiting.splice(0).filter(entry => entry.site)
    this.kept.push(...fresh)
    const reset = !this.begun || this.kept.length > most
    this.begun = true
    if (this.kept.length > most) {
      this.kept = this.kept.slice(-most / 2)
      this.tracer = new Tracer(this.controllers)
      this.count = 0
    }
    const frames = this.tracer.take(this.count === 0 ? this.kept : fresh)
    if (frames.length === 0) return
    this.count += frames.length
    this.onFrames({ branch: '0', reset, frames })
    this.onHead(this.head())
  }

  private head(): Head {
    const rv = this.kept.findLast(entry => entry.site === 'store.committed')?.rv ?? 0
    return { branch: '0', n: 0, total: 0, vt: Date.parse(this.kept.at(-1)?.t ?? '') || Date.now(), rv: String(rv), frames: this.count }
  }

  private async get(path: string, accept = 'application/json'): Promise<string> {
    const answer = await this.send(path, { headers: { accept } })
    const text = await answer.text()
    if (!answer.ok) throw refused(answer.status, text)
    return text
  }

  // send sends a request with the token, if there is one. If the server no longer accepts the token, the page shows the form for another.
  private async send(path: string, { headers, ...init }: RequestInit & { headers?: Record<string, string> } = {}): Promise<Response> {
    const bearer: Record<string, string> = token() ? { authorization: `Bearer ${token()}` } : {}
    const answer = await fetch(path, { ...init, headers: { ...headers, ...bearer }, signal: this.ended.signal })
    if (answer.status === 401) wanted.value = messageOf(await answer.clone().text())
    return answer
  }

  // whoAmI returns the user name that the cluster assigns to the token, or "" without a token.
  private async whoAmI(): Promise<string> {
    if (!token()) return ''
    const body = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' })
    const answer = await this.send('/apis/authentication.k8s.io/v1/selfsubjectreviews', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const said = await answer.text()
    if (!answer.ok) throw refused(answer.status, said)
    return (JSON.parse(said) as { status: { userInfo: { username: string } } }).status.userInfo.username
  }

  private async carryOut({ line, files = {} }: { line: string; files?: Record<string, string> }): Promise<object> {
    const { method, path, body, type } = requestOf(line, files, this.resources)
    const headers: Record<string, string> = type ? { 'content-type': type } : {}
    const answer = await this.send(path, { method, headers, ...(body === undefined ? {} : { body }) })
    const said = await answer.text()
    this.lines++
    const shown = path.startsWith('/sim/') ? said.trim().split('\n').filter(Boolean).map(one => `   ${one}`) : []
    const result = {
      lines: [`   you ${method} ${path} → ${answer.status} ${answer.ok ? summary(said) : messageOf(said)}`, ...(answer.ok ? shown : [])],
      ok: true,
    }
    return { head: { ...this.head(), n: this.lines }, result }
  }

  private async view(view: string, q: Record<string, unknown>): Promise<unknown> {
    switch (view) {
      case 'resources': return { resources: this.resources, namespaces: (await this.names('/api/v1/namespaces').catch(mayNot)) ?? ['default'] }
      case 'table': return await this.table(String(q['resource']), String(q['ns'] ?? ''), Number(q['limit'] ?? 200))
      case 'object': return await this.object(q)
      case 'replicas': return { replicas: await this.replicas() }
      case 'timeline': return await this.timeline()
      case 'faults': return { faults: (await this.get('/sim/v1/faults')).split('\n').filter(Boolean).map(text => ({ text, state: '' })) }
      case 'clients': return { clients: [] }
      case 'controllers': return await this.report()
      case 'results': return { from: 0, results: [] }
      case 'lessons': return { lessons: [] }
      case 'complete': return { from: 0, to: 0, items: [] }
      case 'log': return { log: [], seed: '1', replicas: [] }
      default: throw new Error(says().noView(view))
    }
  }

  private async report(): Promise<{ controllers: Controller[]; stepped: boolean }> {
    return JSON.parse(await this.get('/sim/v1/controllers'))
  }

  private async replicas(): Promise<object[]> {
    const { replicas } = JSON.parse(await this.get('/sim/v1/replicas')) as { replicas: { version: string; revision: number; cut: boolean; lagging: string[]; watches: number }[] }
    return replicas.map(({ revision, ...of }, i) => ({ n: i + 1, rv: String(revision), ...of }))
  }

  private async timeline(): Promise<object> {
    const lanes = (await this.replicas() as { n: number; rv: string; cut: boolean; lagging: string[]; version: string }[]).map(of => ({
      id: `replica/${of.n}`, kind: 'replica', label: of.version, horizon: of.rv, from: '', state: of.cut ? 'cut' : of.lagging.length > 0 ? 'lagging' : '', replica: of.n,
    }))
    const { controllers } = await this.report()
    const troubled = controllers.filter(({ state }) => state).map(({ name, rv, state }) => ({
      id: `controller/${name}`, kind: 'controller', label: name, horizon: rv, from: '', state,
    }))
    return { lanes: [...lanes, ...troubled], compacted: '0', tokens: [], now: Date.now(), next: null, rv: this.head().rv }
  }

  private async names(path: string): Promise<string[]> {
    const { items } = JSON.parse(await this.get(path)) as { items: { metadata: { name: string } }[] }
    return items.map(({ metadata }) => metadata.name)
  }

  private async discover(): Promise<void> {
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
    const found = await Promise.all(['/api', '/apis'].map(async path => JSON.parse(await this.get(path, accept)) as Discovery))
    this.resources = found.flatMap(({ items }) => items.flatMap(({ metadata, versions }) => versions.slice(0, 1).flatMap(({ version, resources = [] }) =>
      resources.map(of => ({ group: metadata?.name ?? '', version, resource: of.resource, kind: of.responseKind.kind, short: of.shortNames ?? [],
        namespaced: of.scope === 'Namespaced', verbs: of.verbs })))))
  }

  private async table(name: string, ns: string, limit: number): Promise<Table> {
    const { path } = requestOf(`get ${name}${ns ? ` -n ${ns}` : ' -A'}`, {}, this.resources)
    const list = JSON.parse(await this.get(`${path}?limit=${limit}`, 'application/json;as=Table;v=v1;g=meta.k8s.io'))
    const rows = (list.rows ?? []) as { cells: string[]; object: { metadata: Record<string, string> } }[]
    return {
      columns: list.columnDefinitions, rv: list.metadata.resourceVersion, all: rows.length + Number(list.metadata.remainingItemCount ?? 0),
      rows: rows.map(({ cells, object: { metadata: of } }) => ({ name: of['name'] ?? '', ns: of['namespace'] ?? '', rv: of['resourceVersion'] ?? '', uid: of['uid'] ?? '',
        cells, deleting: 'deletionTimestamp' in of })),
    }
  }

  private async object(q: Record<string, unknown>): Promise<object> {
    if (q['format'] !== 'yaml') throw new Error(says().yaml)
    const ns = q['ns'] ? ` -n ${q['ns']}` : ''
    const { path } = requestOf(`get ${q['resource']} ${q['name']}${ns}`, {}, this.resources)
    const text = await this.get(path, 'application/yaml')
    return { text, rv: /^ {2}resourceVersion: "(\d+)"/m.exec(text)?.[1] ?? '' }
  }
}

interface Discovery {
  items: {
    metadata?: { name?: string }
    versions: { version: string; resources?: { resource: string; responseKind: { kind: string }; scope: string; shortNames?: string[]; verbs: string[] }[] }[]
  }[]
}

// mayNot ignores errors of missing permission and rethrows others.
function mayNot(error: Error): undefined {
  if (!(error instanceof Refusal)) throw error
}

// refused returns the error for an unsuccessful answer.
function refused(code: number, text: string): Error {
  return code === 401 || code === 403 ? new Refusal(messageOf(text)) : new Error(messageOf(text))
}

// messageOf returns the message of a Status, or the text itself.
function messageOf(text: string): string {
  try {
    return (JSON.parse(text) as { message?: string }).message ?? text
  } catch {
    return text.trim()
  }
}

function summary(text: string): string {
  try {
    const { kind, metadata, items } = JSON.parse(text) as { kind: string; metadata?: { name?: string; resourceVersion?: string }; items?: unknown[] }
    return items ? says().items(items.length) : [kind, metadata?.name, metadata?.resourceVersion && `rv ${metadata.resourceVersion}`].filter(Boolean).join(' ')
  } catch {
    return ''
  }
}
