package engine

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/cel"
)

// sourceOf returns a source of the view dump.
func sourceOf(name, text string) string {
	return fmt.Sprintf(`{"name":%q,"data":%q}`, name, base64.StdEncoding.EncodeToString([]byte(text)))
}

// TestDump checks that the view dump returns an operation with which a world begins with the objects of files.
func TestDump(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	e := New()
	ask := func(body string) map[string]any {
		var answer map[string]any
		is.NoErr(json.Unmarshal(e.Handle([]byte(`{"v":1,"id":1,` + body + `}`))[0], &answer))
		return answer
	}
	answer := ask(`"kind":"query","view":"dump","name":"tree","sources":[` + strings.Join([]string{
		sourceOf("tree/nodes.yaml", "kind: NodeList\napiVersion: v1\nitems:\n- metadata: {name: n1, uid: u1, creationTimestamp: '2026-05-01T00:00:00Z'}\n"),
		sourceOf("tree/version.json", `{"major":"1"}`),
		sourceOf("tree/pod.log", "kind: [")}, ",") + `]`)
	if !cel.Supported { // the small engine leaves files and imports to the other one
		is.Equal(fault(answer, "needs"), "cel")
		is.Equal(fault(ask(`"kind":"boot","log":[{"line":"import a.json","files":{"a.json":""}}]`), "needs"), "cel")
		return
	}
	data, ok := answer["data"].(map[string]any)
	is.True(ok)
	is.Equal(data["controllers"], true)
	op, err := json.Marshal(data["op"])
	is.NoErr(err)
	answer = ask(`"kind":"boot","controllers":["*"],"log":[` + string(op) + `]`)
	is.Equal(answer["kind"], "ok")
	answer = ask(`"kind":"query","view":"results"`)
	lines, err := json.Marshal(answer["data"].(map[string]any)["results"])
	is.NoErr(err)
	is.Equal(string(lines), `[{"lines":["   from tree","   as it was at 2026-05-01T00:00:00Z",`+
		`"   not imported: tree/version.json:1: not an object: it has no kind and apiVersion","   imported 1 objects"],"ok":true}]`)

	var nodes strings.Builder
	for i := range nodesMax + 1 {
		fmt.Fprintf(&nodes, `{"kind":"Node","apiVersion":"v1","metadata":{"name":"n%d"}}`, i)
	}
	answer = ask(`"kind":"query","view":"dump","name":"a","sources":[` + sourceOf("a", nodes.String()) + `]`)
	is.Equal(answer["data"].(map[string]any)["controllers"], false) // too many nodes
	for text, want := range map[string]string{
		"kind: A\n---\na: b: c\n": "a:3: mapping values are not allowed in this context",
		"{}":                      "there are no objects of a cluster in it",
	} { // order does not matter
		answer = ask(`"kind":"query","view":"dump","name":"a","sources":[` + sourceOf("a", text) + `]`)
		is.Equal(answer["error"].(map[string]any)["text"], want)
	}
}
