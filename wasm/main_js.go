package main

import (
	"syscall/js"
	"time"

	"github.com/kubesim/kubesim/wasm/engine"
)

// The names that connect the module to its Worker. The module defines the function handleName, and then calls readyName if it
// exists. While it handles a message, it calls timeName, if that exists, with the world's time in milliseconds.
const (
	handleName = "kubesimHandle"
	readyName  = "kubesimReady"
	timeName   = "kubesimTime"
)

// progress calls a function of JavaScript with the world's time.
type progress struct{ tell js.Value }

// Moved implements scenario.Progress.
func (p progress) Moved(to time.Time) { p.tell.Invoke(float64(to.UnixMilli())) }

func main() {
	e := engine.New()
	if tell := js.Global().Get(timeName); tell.Type() == js.TypeFunction {
		e.Progress = progress{tell}
	}
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
	select {} // keep the module alive for calls of handle
}
