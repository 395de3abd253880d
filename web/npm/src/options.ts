// The options of start, and the errors for invalid options.

/** ServerOptions describe one API server. */
export interface ServerOptions {
  /** version is a Kubernetes minor such as "1.35", or a release of it. By default it is the newest simulated minor. */
  version?: string
  /** featureGates switch feature gates on or off that affect fields and values of objects, as in {MutableCSINodeAllocatableCount: false}. */
  featureGates?: Record<string, boolean>
  /** serve switches off resources that are served by default, like --runtime-config: {'batch/v1/cronjobs': false}. */
  serve?: Record<string, boolean>
}

/** ImageOptions describe the containers of an image. Durations are texts such as "1.5s" or "5m", or numbers of milliseconds. */
export interface ImageOptions {
  /** start is the time to pull the image and start a container, by default a second. */
  start?: Duration
  /** ready is the time from the start of a container until it is ready. */
  ready?: Duration
  /** exit makes a container end by itself. Without exit it runs until it is stopped. */
  exit?: { after?: Duration; code?: number }
  /** stop is the time that a container takes to end after it is stopped, by default a second. */
  stop?: Duration
  /** pullError is the reason why the image cannot be pulled. */
  pullError?: string
}

/** Options describe a cluster. By default it is one API server with an empty store, whose clock stands still. */
export interface Options extends ServerOptions {
  /** seed determines uids, generated names and all other random values. The same seed and the same requests give the same bytes. */
  seed?: number
  /** nodes is the number of nodes, from 0 to 5000. Their kubelets run pods, but no process runs in a container. */
  nodes?: number
  /**
   * controllers are the controllers of kube-controller-manager, and the scheduler, that run: "all", "none", or names.
   * By default all run if there are nodes, otherwise none.
   */
  controllers?: 'all' | 'none' | string[]
  /** replicas are several API servers with one store. Each then has its own version, featureGates and serve. */
  replicas?: ServerOptions[]
  /** auth is the authorization mode: "none" allows every request, "rbac" authenticates bearer tokens and checks roles. */
  auth?: 'none' | 'rbac'
  /** plugins are admission plugins that run in addition to the default ones, such as "ServiceAccount". */
  plugins?: string[]
  /** withoutPlugins are admission plugins that do not run. */
  withoutPlugins?: string[]
  /** images describe the containers, by the name of their image. */
  images?: Record<string, ImageOptions>
  /** bare omits the objects that API servers create when they start, such as cluster roles, except namespaces. */
  bare?: boolean
  /** clock is "manual", which moves only when clock.advance or settle is called, or "real", which follows the time of day. */
  clock?: 'manual' | 'real'
}

/** Duration is a text such as "250ms", "1.5s", "5m" or "1h30m", or a number of milliseconds. */
export type Duration = string | number

const units: Record<string, number> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1e3, m: 60e3, h: 3600e3 }

/** milliseconds parses a duration. */
export function milliseconds(duration: Duration, what: string): number {
  if (typeof duration === 'number' && duration >= 0 && Number.isFinite(duration)) return duration
  if (typeof duration === 'string' && /^(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$/.test(duration)) {
    return [...duration.matchAll(/([\d.]+)([a-zµ]+)/g)].reduce((sum, [, n, unit]) => sum + Number(n) * (units[unit ?? ''] ?? 0), 0)
  }
  throw new TypeError(`kubesim: ${what} is ${JSON.stringify(duration)}: want a duration such as "250ms", "1.5s" or "1h30m", or a number of milliseconds`)
}

type Check = [is: (value: unknown) => boolean, want: string]

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)
const isMapOf = (type: string) => (value: unknown) => isObject(value) && Object.values(value).every(each => typeof each === type)
const isList = (value: unknown) => Array.isArray(value) && value.every(each => typeof each === 'string')
const isOneOf = (...words: unknown[]) => (value: unknown) => words.includes(value)

const ofServer: Record<string, Check> = {
  version: [value => typeof value === 'string', 'a text such as "1.35"'],
  featureGates: [isMapOf('boolean'), 'an object such as {NAME: true}'],
  serve: [isMapOf('boolean'), "an object such as {'batch/v1/cronjobs': false}"],
}

const ofCluster: Record<string, Check> = {
  ...ofServer,
  seed: [value => Number.isSafeInteger(value) && Number(value) > 0, 'a whole number above 0'],
  nodes: [value => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 5000, 'a whole number from 0 to 5000'],
  controllers: [value => value === 'all' || value === 'none' || isList(value), '"all", "none" or a list of names'],
  replicas: [value => Array.isArray(value) && value.length > 0, 'a list of objects such as [{version: "1.35"}, {}]'],
  auth: [isOneOf('none', 'rbac'), '"none" or "rbac"'],
  plugins: [isList, 'a list of names'],
  withoutPlugins: [isList, 'a list of names'],
  images: [isMapOf('object'), "an object such as {'example.com/worker': {exit: {code: 1}}}"],
  bare: [isOneOf(true, false), 'true or false'],
  clock: [isOneOf('manual', 'real'), '"manual" or "real"'],
}

const ofImage: Record<string, Check> = Object.fromEntries(['start', 'ready', 'exit', 'stop', 'pullError'].map(name => [name, [() => true, ''] satisfies Check]))

function check(options: unknown, known: Record<string, Check>, where: string): void {
  if (!isObject(options)) throw new TypeError(`kubesim: ${where} is ${JSON.stringify(options)}: want an object`)
  for (const [name, value] of Object.entries(options)) {
    const found = known[name]
    if (!found) throw new TypeError(`kubesim: ${where} has no option ${JSON.stringify(name)}: there are ${Object.keys(known).sort().join(', ')}`)
    if (value !== undefined && !found[0](value)) throw new TypeError(`kubesim: ${where}: ${name} is ${JSON.stringify(value)}: want ${found[1]}`)
  }
}

const nanoseconds = (duration: Duration | undefined, what: string) => duration === undefined ? undefined : Math.round(milliseconds(duration, what) * 1e6)

/** clusterOf checks options and returns the equivalent config.Cluster (sim/config). */
export function clusterOf(options: Options): object {
  check(options, ofCluster, 'start')
  const { version, featureGates, serve, replicas, auth, controllers, images, clock, ...same } = options
  const one = { version, featureGates, serve }
  const alone = Object.entries(one).find(([, value]) => value !== undefined)
  if (replicas && alone) throw new TypeError(`kubesim: start: ${alone[0]} stands beside replicas: move it into each of them, as in replicas: [{${alone[0]}: …}, …]`)
  replicas?.forEach((replica, i) => { check(replica, ofServer, `start: replicas[${i}]`) })
  const running = controllers === 'all' || controllers === undefined && (options.nodes ?? 0) > 0 ? ['*'] : controllers === 'none' ? undefined : controllers
  return {
    ...same, controllers: running, auth: auth === 'rbac' ? 1 : 0,
    replicas: replicas ?? (alone ? [one] : undefined),
    images: images && Object.fromEntries(Object.entries(images).map(([name, image]) => [name, imageOf(image, `start: images[${JSON.stringify(name)}]`)])),
  }
}

function imageOf(image: ImageOptions, where: string): object {
  check(image, ofImage, where)
  const { start, ready, stop, exit, pullError } = image
  return {
    start: nanoseconds(start, `${where}: start`), ready: nanoseconds(ready, `${where}: ready`), stop: nanoseconds(stop, `${where}: stop`), pullError,
    exit: exit && { after: nanoseconds(exit.after, `${where}: exit.after`), code: exit.code },
  }
}
