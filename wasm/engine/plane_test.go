package engine

import (
	"testing"

	"github.com/matryer/is"
)

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i}]}}
`

// A world has controllers and nodes if the page asks for them; its link and its export make it again. A link that says nothing of
// them makes the world that it was made of, in which nothing works by itself.
func TestControllers(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	pods := func(p *page) int {
		return len(at(p.must("query", "view", "table", "resource", "pods"), "data.rows").([]any))
	}
	create := map[string]any{"line": "create -f web.yaml", "files": map[string]any{"web.yaml": deployment}}
	p := newPage(t)
	p.must("boot", "seed", "1", "controllers", []string{"*"}, "nodes", 3)
	p.must("do", "op", create)
	p.must("tick", "until", "settled")
	is.Equal(pods(p), 2)
	p.do("expect deployments/web .status.readyReplicas == 2")

	data := at(p.must("query", "view", "log"), "data").(map[string]any)
	again := newPage(t)
	again.must("boot", "seed", data["seed"], "controllers", data["controllers"], "nodes", data["nodes"], "log", data["log"])
	is.Equal(again.hash(), p.hash())
	imported := newPage(t)
	imported.must("boot", "scenario", at(p.must("query", "view", "export"), "data.txtar"))
	is.Equal(pods(imported), 2)
	p.must("fork", "n", 1)
	p.must("tick", "until", "settled")
	is.Equal(p.hash(), func() string { again.must("seek", "n", 2); return again.hash() }())

	old := newPage(t)
	old.must("boot", "seed", "1", "log", data["log"].([]any)[:2])
	is.Equal(pods(old), 0)
	is.True(fault(newPage(t).send("boot", "nodes", 51), "text") != "")
	is.True(fault(newPage(t).send("boot", "controllers", []string{"nobody"}), "text") != "")
}
