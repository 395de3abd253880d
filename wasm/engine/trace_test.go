package engine

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/matryer/is"
)

var update = flag.Bool("update", false, "rewrite wasm/trace.json")

// TestTrace: the recorded opening of the first lesson, which the page shows while the engine loads, is what the engine
// makes. go test ./wasm/engine -run Trace -update records it anew.
func TestTrace(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	const file, opening = "../trace.json", "first"
	e := New()
	var messages []json.RawMessage
	for _, ask := range []string{
		`{"v":1,"id":1,"kind":"boot","lesson":"` + opening + `"}`,
		`{"v":1,"id":2,"kind":"query","view":"lesson","lesson":"` + opening + `"}`,
		`{"v":1,"id":3,"kind":"query","view":"timeline"}`,
	} {
		for _, m := range e.Handle([]byte(ask)) {
			messages = append(messages, m)
		}
	}
	var want bytes.Buffer
	enc := json.NewEncoder(&want)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	is.NoErr(enc.Encode(map[string]any{"lesson": opening, "hash": e.run.world.Hash(), "messages": messages}))
	if *update {
		is.NoErr(os.WriteFile(file, want.Bytes(), 0o644))
	}
	got, err := os.ReadFile(file)
	is.NoErr(err)
	is.Equal(string(got), want.String()) // else: go test ./wasm/engine -run Trace -update
}
