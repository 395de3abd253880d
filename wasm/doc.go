// Command wasm is the simulator for web pages: a WebAssembly module that a Worker loads, built with GOOS=js GOARCH=wasm.
//
//	Worker                                       this module
//	  kubesimHandle(Uint8Array) ───────────────▶ engine.Engine.Handle ──▶ the simulator
//	  Uint8Array[] ◀─────────────────────────────┘
//
// It only binds package engine to JavaScript. make wasm builds it twice: a small module with the build tag nocel, and one with CEL
// for logs that need it.
package main
