/**
 * kubesim for JavaScript: a Kubernetes API server in this process.
 *
 *   start(options) ─▶ Server ─┬─ fetch            requests in this process
 *                             ├─ listen           the same over HTTP, for other clients; kubeconfig has the address
 *                             └─ clock, faults    the test controls time and failures
 *
 * @module
 */
export type { Duration, ImageOptions, Options, ServerOptions } from './options.js'
export { Refused } from './engine.js'
export { type Clock, type Faults, type ListenOptions, Server, start } from './server.js'
