/**
 * Connects @kubernetes/client-node, version 1 or 2, to a server in this process, without a socket.
 *
 *   import * as k8s from '@kubernetes/client-node'
 *   const client = inProcess(k8s, srv)
 *   const core = client.makeApiClient(k8s.CoreV1Api)
 *
 * @module
 */
import type { Server } from './server.js'

/** Library is the part of @kubernetes/client-node that inProcess uses. */
export interface Library {
  createConfiguration(options: never): unknown
  wrapHttpLibrary(library: never): unknown
  ServerConfiguration: new (url: never, variables: never) => unknown
  ResponseContext: new (status: never, headers: never, body: never) => unknown
  ListWatch: new (...args: never[]) => unknown
}

/** WatchCallback is called for each event of a watch, with its type, its object, and the complete event. */
// biome-ignore lint/suspicious/noExplicitAny: the same type as in the library
export type WatchCallback = (type: string, object: any, event?: any) => void

/** Watcher has the method of the library's class Watch. */
export interface Watcher {
  /** watch starts a watch. done is called once, when it ends. Abort the returned controller to end it. */
  watch(path: string, query: Record<string, string | number | boolean | undefined>, callback: WatchCallback, done: (error: unknown) => void): Promise<AbortController>
}

/** Client creates API clients, watches and informers, like a KubeConfig. */
export interface Client<L extends Library> {
  /** makeApiClient returns a client of an API, such as k8s.CoreV1Api or k8s.KubernetesObjectApi. */
  makeApiClient<T>(api: new (configuration: never) => T): T
  /** watch replaces new k8s.Watch(kubeConfig). */
  watch: Watcher
  /** makeInformer replaces k8s.makeInformer. Call start on its result. */
  makeInformer(path: string, list: () => Promise<unknown>, labelSelector?: string): InstanceType<L['ListWatch']>
}

interface RequestContext {
  getUrl(): string
  getHttpMethod(): string
  getHeaders(): Record<string, string>
  getBody(): RequestInit['body']
  getSignal(): AbortSignal | undefined
}

const address = 'http://kubesim.invalid' // never contacted: requests stay in this process

/** inProcess returns a client of a server in this process; k8s is the module @kubernetes/client-node. */
export function inProcess<L extends Library>(k8s: L, server: Server): Client<L> {
  const send = async (context: RequestContext): Promise<unknown> => {
    const response = await server.fetch(context.getUrl(), { method: context.getHttpMethod(), headers: context.getHeaders(), body: context.getBody(), signal: context.getSignal() })
    const body = { text: () => response.text(), binary: async () => Buffer.from(await response.arrayBuffer()), stream: () => response.body }
    return new k8s.ResponseContext(response.status as never, Object.fromEntries(response.headers) as never, body as never)
  }
  const configuration = k8s.createConfiguration({
    baseServer: new k8s.ServerConfiguration(address as never, {} as never),
    httpApi: k8s.wrapHttpLibrary({ send } as never),
  } as never)
  const watch: Watcher = { watch: (path, query, callback, done) => follow(server, path, query, callback, done) }
  return {
    makeApiClient: api => new api(configuration as never),
    watch,
    makeInformer: (path, list, labelSelector) => new k8s.ListWatch(...[path, watch, list, false, labelSelector] as never[]) as InstanceType<L['ListWatch']>,
  }
}

async function follow(server: Server, path: string, query: Record<string, string | number | boolean | undefined>, callback: WatchCallback, done: (error: unknown) => void): Promise<AbortController> {
  const url = new URL(address + path)
  url.searchParams.set('watch', 'true')
  for (const [name, value] of Object.entries(query ?? {})) if (value !== undefined) url.searchParams.set(name, `${value}`)
  const controller = new AbortController()
  let ended = false
  const end = (error: unknown): void => {
    if (!ended) {
      ended = true
      done(error)
    }
  }
  try {
    const response = await server.fetch(url, { signal: controller.signal })
    if (response.status !== 200) throw Object.assign(new Error(`${response.status} ${await response.text()}`), { statusCode: response.status })
    void read(response, callback).then(() => end(null), end)
  } catch (error) {
    end(error)
  }
  return controller
}

async function read(response: Response, callback: WatchCallback): Promise<void> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
    const lines = (rest + next.value).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const event = JSON.parse(line) as { type: string; object: unknown }
      callback(event.type, event.object, event)
    }
  }
}
