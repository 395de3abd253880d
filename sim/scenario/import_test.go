package scenario_test

import (
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/scenario"
)

const imports = `# A cluster with a pod that runs on its node.

controllers replicaset-controller
import cluster.yaml n1
expect pods/shop/a .metadata.uid == u1
tick 10m
expect pods/shop/a .status.containerStatuses[0].restartCount == 7
expect nodes/n1 .metadata.uid == u2
-- cluster.yaml --
# from must-gather.tar.gz
# not imported: version.json: not an object
kind: Pod
apiVersion: v1
metadata: {name: a, namespace: shop, uid: u1, resourceVersion: "12", creationTimestamp: "2026-05-01T00:00:00Z"}
spec: {nodeName: n1, containers: [{name: c, image: "$x"}]}
status:
  phase: Running
  startTime: "2026-05-01T00:00:01Z"
  containerStatuses: [{name: c, image: "$x", imageID: i, ready: true, started: true, restartCount: 7, state: {running: {startedAt: "2026-05-01T00:00:01Z"}}}]
---
kind: Node
apiVersion: v1
metadata: {name: n1, uid: u2, resourceVersion: "11", creationTimestamp: "2026-05-01T00:00:00Z"}
---
kind: Widget
apiVersion: example.com/v1
metadata: {name: w}
`

// TestImport checks that a scenario begins with the objects of another cluster, at the time of that cluster.
func TestImport(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	f, err := scenario.ParseFile([]byte(imports))
	is.NoErr(err)
	out, err := scenario.Run(f, scenario.RunOptions{})
	is.NoErr(err)
	is.Equal(out.Failure, nil)
	is.True(strings.Contains(out.Transcript, `> import cluster.yaml n1
   from must-gather.tar.gz
   not imported: version.json: not an object
   imported 2 objects
   created the missing namespaces shop
   not imported: Widget w: no API server serves Widget in version example.com/v1
>`))
	is.Equal(out.World.Now().Format(time.DateTime), "2026-05-01 00:10:00")
	again, err := scenario.Run(f, scenario.RunOptions{})
	is.NoErr(err)
	is.Equal(again.Hash, out.Hash)
}

// TestImportErrors checks that an import that fails leaves the world as it was.
func TestImportErrors(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	w, err := scenario.New(scenario.Options{Files: map[string]string{"broken.json": `{"kind": "x"`, "empty.yaml": ""}})
	is.NoErr(err)
	for _, line := range []struct{ text, want string }{
		{"import none.json", `there is no file "none.json"; `},
		{"import broken.json", "broken.json: document 1: "},
		{"import empty.yaml n1 n1", "node names: each must be given once"},
	} {
		op, err := scenario.Parse(line.text)
		is.NoErr(err)
		_, err = w.Do(op)
		is.True(err != nil)
		if !strings.Contains(err.Error(), line.want) {
			t.Errorf("%s: %v, want %s", line.text, err, line.want)
		}
	}
	do := func(line string) error {
		op, err := scenario.Parse(line)
		is.NoErr(err)
		_, err = w.Do(op)
		return err
	}
	is.NoErr(do("import empty.yaml"))
	is.NoErr(do("create configmap a"))
	is.True(do("import empty.yaml") != nil) // too late
}
