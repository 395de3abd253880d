package engine

import (
	"strings"
	"testing"

	"github.com/matryer/is"
)

// TestPast checks that every view can be queried for an earlier state, and that such queries change nothing.
func TestPast(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPage(t)
	p.must("boot", "replicas", []any{map[string]any{}, map[string]any{}})
	p.do("create configmap a")
	p.do("lag 2")
	p.do("create configmap b --as bob")
	hash := p.must("hash")["hash"]
	is.Equal(at(p.data("replicas"), "replicas.1.lagging.0"), "*")
	is.Equal(len(at(p.data("replicas", "n", 1), "replicas.1.lagging").([]any)), 0) // before lag 2
	is.Equal(len(p.data("clients")["clients"].([]any)), 2)
	is.Equal(len(p.data("clients", "n", 1)["clients"].([]any)), 1)
	is.Equal(len(p.data("clients", "n", 0)["clients"].([]any)), 0)
	is.Equal(p.send("query", "view", "clients", "n", 9)["kind"], "error") // there is no such moment
	is.Equal(p.must("hash")["hash"], hash)
	p.must("undo")
	p.do("create configmap c --as carol")
	p.do("settle")
	is.Equal(at(p.data("clients", "n", 3), "clients.1.name"), "carol") // not what the log said when it was looked at
}

// TestResults checks that a page that boots with a log can query the results of its operations.
func TestResults(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPage(t)
	p.must("boot", "log", []any{map[string]any{"line": "create configmap a"}, map[string]any{"line": "create configmap a"}})
	told := p.data("results")
	is.Equal(told["from"], 0.0)
	second := at(told, "results.1").(map[string]any)
	is.True(strings.Contains(at(second, "lines.0").(string), "409 AlreadyExists"))
	yaml := p.data("yaml", "frame", second["frame"])["text"].(string)
	is.True(strings.Contains(yaml, "\nreason: AlreadyExists\n"))
	is.Equal(p.send("query", "view", "yaml", "frame", 999)["kind"], "error")
}
