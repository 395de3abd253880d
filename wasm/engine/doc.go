// Package engine is the simulator as a page talks to it: messages in, messages out, as bytes. It knows nothing of
// JavaScript, so its tests run natively.
//
//	page ── {v, id, kind, …} ──▶ Engine.Handle ──▶ {v, id, kind: "ok" | "error", …}
//	                                │              {v, kind: "frames", branch, frames: […]}
//	                                ▼
//	        branch "0"  log: op ─ op ─ op ─ op        the operation log is the only truth
//	                               ▲ cursor n
//	        branch "1"  log: op ─ op ─ op'            fork 2: the same beginning, another end
//	                                │
//	                                └─ replay ──▶ scenario.World ──▶ frames
//
// Handle never blocks and starts nothing. Going back is a replay: the first n ops of the log in a new World, which
// makes the same frames, because time, names and draws come from the seed. So it is after a panic: the log is there.
//
// Queries look at the World without leaving a trace in it: they send no request, draw no number and change no hash.
package engine
