// The messages between the page and the engine, version 1.
//
//   page ──request {v,id,kind,…}──▶ worker ──bytes──▶ engine
//   page ◀──{v,id,kind:"ok"|"error",…}── one for each request
//   page ◀──{v,kind:"frames",branch,reset?,keep?,frames}── any number, before or after
//
// Revisions and resourceVersions are strings: they are opaque, and they may be larger than a double holds.

export const protocolVersion = 1

/** Op is one line of the scenario language, with the manifests that it names. */
export interface Op {
  line: string
  files?: Record<string, string>
}

export type FrameKind =
  | 'http.req' | 'http.res'
  | 'store.commit' | 'store.compact'
  | 'cache.apply' | 'reconcile'
  | 'watch.event' | 'watch.bookmark' | 'watch.close'
  | 'clock.tick' | 'fault'
  | 'check.pass' | 'check.fail'

/** Frame is one event in the world. cause is the n of the frame that caused it. */
export interface Frame {
  n: number
  vt: number
  rv: string
  lane: string
  kind: FrameKind | (string & {})
  cause?: number
  op?: number
  text: string
  ref?: string
  verb?: string
  code?: number
  reason?: string
  /** replica is the number of the API server that handles a request. */
  replica?: number
}

/** Head is the position of the engine's world: after operation n of the total operations of a branch. */
export interface Head {
  branch: string
  n: number
  total: number
  vt: number
  rv: string
  frames: number
}

export type Header = [string, string]

export interface Exchange {
  n?: number
  /** answered is the n of the answer's frame. It is missing while the request waits. */
  answered?: number
  client: string
  replica: number
  req: { method: string; path: string; headers: Header[]; body: string }
  res: { code: number; reason?: string; headers: Header[]; body: string; encoding?: 'base64' } | null
  events?: { frame: number; type: string; rv: string; name: string; text: string; body: string }[]
}

export interface Result {
  lines: string[]
  ok: boolean
  text?: string
  http?: Exchange
  watch?: string
  waiting?: boolean
}

/** LessonState is the learner's position in a lesson. Its texts contain the values of this moment. */
export interface LessonState {
  id: string
  /** own is true for a lesson that a user wrote, which is not among the project's lessons. */
  own?: boolean
  step: number
  steps: number
  done: boolean
  state: 'predict' | 'do' | 'passed'
  text: string
  ask?: string
  options: string[]
  /** begun is the operation to seek in order to restart the step. */
  begun: number
  unasked: Unasked[]
  predicted: ({ answer: number; right?: boolean; correct?: number } | null)[]
  graded?: { ask: string; right: boolean; correct: string; why?: string }
  hints: string[]
  hintsLeft: number
  requests: number
  /** golf counts requests: the learner's, the fewest known (0 if unknown), and those of the lesson's own solution. */
  golf: { yours: number; par: number; solution: number }
}

/** Unasked is an operation that the step did not ask for, with its effects. */
export interface Unasked {
  n: number
  line: string
  effects: { kind: 'created' | 'changed' | 'deleted' | 'watch' | 'time' | 'did'; of: string }[]
}

/** Broken reports that the lesson's own solution no longer works. n and line are the operation that broke it (n is 0 if no recent
 * operation did). why is the reason, and check are the conditions that pass the step, if it is the
 * current one. */
export interface Broken {
  n: number
  line: string
  step: number
  why: string
  check: string[]
  /** stale means that the solution still works, and only the text of the step is no longer true. */
  stale: boolean
}

export interface LessonInfo {
  id: string
  title: string
  about: string
  level: string
  needs: string[]
  minutes: number
  steps: number
  engine: 'core' | 'cel'
}

export interface Lesson {
  id: string
  title: string
  about: string
  steps: { id: string; asks: boolean; hints: number; actions?: string[] }[]
  files?: Record<string, string> | null
}

/** Story is the text beside a world. captions has one entry for each operation, in order. */
export interface Story {
  title?: string
  about?: string
  /** lesson is the id of a lesson about the same topic. */
  lesson?: string
  captions: string[]
}

export interface Boot {
  seed?: string
  replicas?: { version: string; gates?: Record<string, boolean> }[]
  /** controllers of the control plane that run: "*" or names. A link without this field is a world without controllers. */
  controllers?: string[]
  nodes?: number
  /** whole adds the objects of a new cluster, and RBAC as the authorizer. */
  whole?: boolean
  /** classes creates a default StorageClass and a default IngressClass. A link without this field is a world without them. */
  classes?: boolean
  scenario?: string
  lesson?: string
  /** own is the YAML of a lesson that a user wrote. */
  own?: string
  /** story is for the page; the engine does not read it. */
  story?: Story
  log?: Op[]
  cursor?: number
  /** answers are the indices of the chosen options, by step. */
  answers?: Record<string, number>
}

export interface Resource {
  group: string
  version: string
  resource: string
  kind: string
  short?: string[]
  namespaced: boolean
  verbs: string[]
  subresources?: string[]
  custom?: boolean
}

export interface Table {
  columns: { name: string; type: string; priority: number }[]
  rows: { name: string; ns: string; rv: string; uid: string; cells: string[]; deleting?: boolean }[]
  all: number
  rv: string
}

/** Field is one field of a decoded protobuf message. */
export interface Field {
  offset: number
  length: number
  field: number
  wire: string
  name?: string
  type?: string
  value?: string
  children?: Field[]
}

export interface Owners {
  rv: string
  managers: { letter: string; name: string; operation: string; subresource?: string; time: string; fields: number }[]
  lines: { text: string; managers?: string[] | null }[]
  paths: { path: string; managers: string[] }[]
}

export interface Token {
  rv: string
  start: string
  version: string
  expired: boolean
  /** If inconsistent, the next page shows the newest state instead of the state of the previous pages. */
  inconsistent: boolean
}

export interface TokenSpan {
  id: string
  label: string
  rv: string
  start: string
  from: number
  to?: number
  expired: boolean
  replica: number
}

export interface LaneInfo {
  id: string
  kind: 'store' | 'replica' | 'watch' | 'client' | 'controller'
  label: string
  horizon: string
  from: string
  state?: string
  replica?: number
  resource?: string
}

export interface TimelineView {
  lanes: LaneInfo[]
  compacted: string
  tokens: TokenSpan[] | null
  now: number
  /** next is the time until the next timer, in ms from now, or null if there is no timer. */
  next: { in: number } | null
  rv: string
}

export interface Replica {
  n: number
  version: string
  gates?: Record<string, boolean> | null
  rv: string
  cut: boolean
  lagging?: string[] | null
  watches: number
}

export interface Client {
  name: string
  replica: number
  held: boolean
  requests: number
  actor?: { kind: string; resource?: string; state?: string; synced?: boolean; rv?: string; keys?: string[] | null }
}

/** Controller is a controller of the control plane, or a kubelet. */
export interface Controller {
  name: string
  state?: 'stopped' | 'crashed' | 'lagging' | 'slow'
  slow?: number // ms between an event and the controller's reaction to it
  lagging?: string[]
  rv: string
  due: { key: string; in: number }[]
  all: number
}

/** Manifest is engine.json: the files of the engine, their sizes in bytes, and the hash that share links contain. */
export interface Manifest {
  protocol: number
  go: string
  minor: string // the minor whose data is part of the engines
  core: Build
  cel: Build
  exec: { file: string }
  schemas?: Record<string, { file: string }>
  trace?: { file: string }
}

export interface Build {
  file: string // packed
  raw: number
  gz: number
  br: number
  hash: string
}

export interface EngineError {
  text: string
  needs?: string
  fatal?: boolean
}
