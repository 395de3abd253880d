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

// TestTrace checks that the recording that the page shows while the engine loads equals the engine's own result for
// wasm/opener.txtar. go test ./wasm/engine -run Trace -update records it again.
func TestTrace(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	const file = "../trace.json"
	scenario, err := os.ReadFile("../opener.txtar")
	is.NoErr(err)
	p := newPage(t)
	boot, err := json.Marshal(map[string]any{"v": 1, "id": 1, "kind": "boot", "scenario": string(scenario)})
	is.NoErr(err)
	var told struct{ Frames json.RawMessage } // as the page gets them: it compares the bytes
	is.NoErr(json.Unmarshal(p.e.Handle(boot)[1], &told))
	var want bytes.Buffer
	enc := json.NewEncoder(&want)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	is.NoErr(enc.Encode(map[string]any{"scenario": string(scenario), "hash": p.e.run.world.Hash(), "frames": told.Frames,
		"timeline": p.data("timeline")}))
	if *update {
		is.NoErr(os.WriteFile(file, want.Bytes(), 0o644))
	}
	got, err := os.ReadFile(file)
	is.NoErr(err)
	is.Equal(string(got), want.String())                                  // else: go test ./wasm/engine -run Trace -update
	is.Equal(len(p.data("table", "resource", "pods")["rows"].([]any)), 2) // the same pod, twice
}
