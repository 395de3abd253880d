// The messages between the page and the engine, version 1.
//
//   page ──request {v,id,kind,…}──▶ worker ──bytes──▶ engine
//   page ◀──{v,id,kind:"ok"|"error",…}── one for each request
//   page ◀──{v,kind:"frames",branch,reset?,frames}── any number, before or after
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

/** Frame is one thing that happened. cause is the n of the frame that made it happen. */
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

/** Head says where the engine's world stands: after op n of total of a branch. */
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
  /** answered is the frame of the answer; it is not there while the request waits. */
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

/** LessonState is where a learner is. Its texts hold the values of this moment. */
export interface LessonState {
  id: string
  /** own says that somebody wrote it in a page. */
  own?: boolean
  step: number
  steps: number
  done: boolean
  state: 'predict' | 'do' | 'passed'
  text: string
  ask?: string
  options: string[]
  /** begun is the operation to seek to begin the step anew. */
  begun: number
  unasked: Unasked[]
  predicted: ({ answer: number; right?: boolean; correct?: number } | null)[]
  graded?: { ask: string; right: boolean; correct: string; why?: string }
  hints: string[]
  hintsLeft: number
  requests: number
  /** golf: the requests of the learner, the fewest that are known (0: unknown), and those of the lesson's own solution. */
  golf: { yours: number; par: number; solution: number }
}

/** Unasked is an operation that the step did not ask for, and what it did. */
export interface Unasked {
  n: number
  line: string
  effects: { kind: 'created' | 'changed' | 'deleted' | 'watch' | 'time' | 'did'; of: string }[]
}

/** Broken says since which operation (0: no recent one) the lesson's own way does not work, why, and what passes its current step. */
export interface Broken {
  n: number
  line: string
  step: number
  why: string
  check: string[]
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

/** Story is what the page tells beside a world: captions are about its operations, in their order. */
export interface Story {
  title?: string
  about?: string
  /** lesson is the id of a lesson about the same. */
  lesson?: string
  captions: string[]
}

export interface Boot {
  seed?: string
  replicas?: { version: string; gates?: Record<string, boolean> }[]
  /** controllers of the control plane run: "*" or names. A link without them is of a world in which nothing works by itself. */
  controllers?: string[]
  nodes?: number
  /** whole: the objects of a new cluster exist, and RBAC decides. */
  whole?: boolean
  scenario?: string
  lesson?: string
  /** own is a lesson that somebody wrote: its YAML. */
  own?: string
  /** story is not read by the engine. */
  story?: Story
  log?: Op[]
  cursor?: number
  /** answers are the options that were chosen, by step. */
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

/** Field is one field of a protobuf message, opened. */
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
  /** inconsistent: its page shows the newest state, and not that of the pages before. */
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
  /** next is when time makes something happen: ms from now. */
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

/** Controller is one of the control plane's, or a kubelet. */
export interface Controller {
  name: string
  state?: 'stopped' | 'crashed' | 'lagging' | 'slow'
  slow?: number // ms that it waits before it does what it is told of
  lagging?: string[]
  rv: string
  due: { key: string; in: number }[]
  all: number
}

/** Manifest is engine.json: the files of the engine, their sizes in bytes, and the hash that share links carry. */
export interface Manifest {
  protocol: number
  go: string
  minor: string // that the engines know without being given its data
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
