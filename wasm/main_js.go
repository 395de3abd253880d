package main

import (
	"syscall/js"

	"github.com/kubesim/kubesim/wasm/engine"
)

// The names that connect the module with its Worker. The module defines the function handleName, and then calls readyName if it exists.
const (
	handleName = "kubesimHandle"
	readyName  = "kubesimReady"
)

func main() {
	e := engine.New()
	array := js.Global().Get("Uint8Array")
	handle := js.FuncOf(func(_ js.Value, args []js.Value) any {
		if len(args) != 1 || !args[0].InstanceOf(array) {
			return js.Global().Get("Error").New(handleName + " takes one Uint8Array")
		}
		msg := make([]byte, args[0].Length())
		js.CopyBytesToGo(msg, args[0])
		answers := e.Handle(msg)
		out := js.Global().Get("Array").New(len(answers))
		for i, b := range answers {
			bytes := array.New(len(b))
			js.CopyBytesToJS(bytes, b)
			out.SetIndex(i, bytes)
		}
		return out
	})
	js.Global().Set(handleName, handle)
	if ready := js.Global().Get(readyName); ready.Type() == js.TypeFunction {
		ready.Invoke()
	}
	select {} // the module stays; everything happens in handle
}
