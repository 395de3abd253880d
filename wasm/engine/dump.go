//go:build !nocel

package engine

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubesim/kubesim/fake/dump"
)

// dump returns the view of files of a real cluster, in any format of package dump: the operation that imports their objects, and
// whether kubelets and controllers can run in that world.
func (e *Engine) dump(q *request) (any, error) {
	d := &dump.Dump{}
	for _, s := range q.Sources {
		if len(q.Sources) > 1 && !dump.IsDump(s.Name) {
			continue // such as the logs in a folder
		}
		if err := d.Add(s.Name, s.Data); err != nil {
			return nil, err
		}
	}
	if len(d.Objects) == 0 {
		return nil, failed("there are no objects of a cluster in it")
	}
	line, whole := "import "+dumpFile, len(d.NodeNames()) <= nodesMax
	var text strings.Builder
	fmt.Fprintf(&text, "# from %s\n", oneLine(q.Name))
	if whole {
		for _, name := range d.NodeNames() {
			line += " " + name
		}
	} else {
		fmt.Fprintf(&text, "# without controllers and kubelets: it has %d nodes, and a page runs at most %d\n", len(d.NodeNames()), nodesMax)
	}
	if at := d.Newest(); !at.IsZero() {
		fmt.Fprintf(&text, "# as it was at %s\n", at.UTC().Format(time.RFC3339))
	}
	for _, p := range d.Skipped {
		fmt.Fprintf(&text, "# not imported: %s: %s\n", oneLine(p.Place), oneLine(p.Reason))
	}
	text.WriteString(`{"kind":"List","apiVersion":"v1","items":[`)
	for i, o := range d.Objects {
		if i > 0 {
			text.WriteString(",\n")
		}
		text.Write(o.JSON)
		if text.Len() > dumpMax {
			return nil, failed("the objects have more than %d bytes: import them with kubesim serve --import", dumpMax)
		}
	}
	text.WriteString("]}\n")
	return fields{"op": fields{"line": line, "files": map[string]string{dumpFile: text.String()}}, "controllers": whole}, nil
}

const (
	dumpFile = "cluster.json" // the file of the operation
	dumpMax  = 32 << 20       // the maximum size of its text: a page keeps several copies
)

// oneLine replaces line breaks in a text.
func oneLine(text string) string { return strings.NewReplacer("\n", " ", "\r", " ").Replace(text) }
