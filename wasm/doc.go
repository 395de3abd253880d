// Command wasm is the simulator in a page: a module that a Worker loads, built with GOOS=js GOARCH=wasm.
//
//	Worker                                       this module
//	  kubesimHandle(Uint8Array) ───────────────▶ engine.Engine.Handle ──▶ the simulator
//	  Uint8Array[] ◀─────────────────────────────┘
//
// It binds package engine to JavaScript and does nothing else. make wasm builds it twice: with the build tag nocel,
// small, and with CEL, for logs that need it.
package main
