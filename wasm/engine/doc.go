// Package engine implements the protocol by which a page uses the simulator: it receives and returns messages as bytes. It does not
// depend on JavaScript, so its tests run natively.
//
//	page ── {v, id, kind, …} ──▶ Engine.Handle ──▶ {v, id, kind: "ok" | "error", …}
//	                                │              {v, kind: "frames", branch, reset, keep, frames: […]}
//	                                ▼
//	        branch "0"  log: op ─ op ─ op ─ op        the operation log is the only source of truth
//	                               ▲ cursor n
//	        branch "1"  log: op ─ op ─ op'            fork 2: same beginning, different end
//	                                │
//	                                └─ replay ──▶ scenario.World ──▶ frames
//
// Handle never blocks and starts no goroutines. Going back is a replay: the first n operations of the log are executed in a new
// World. It produces the same frames, because time, names and random values derive from the seed, so a page that goes back keeps its frames
// of these operations (reset and keep in a message). A page recovers from a panic in the same way, because the log is kept.
//
// Queries read the World without side effects: they send no requests, draw no random numbers and change no hash.
package engine
