package record

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
)

// Scenario returns a scenario (package sim/scenario) that reproduces a recording: the server initially has the objects that the
// program saw first, other clients make the changes that it saw later, and the program sends its writes. Kinds that are not built in
// get definitions without a schema. entries must not be empty. Scenario returns an error if the URL of a request cannot be parsed.
func Scenario(entries []Entry) (string, error) {
	s, err := read(entries)
	if err != nil {
		return "", err
	}
	w := &scenarioWriter{}
	w.script.WriteString("# A recording of a client: its writes, and the changes of other clients that it observed.\n\n# The objects that the client read first.\n")
	for _, obj := range s.Objects {
		if obj.Kind() == "Namespace" && slices.Contains(standard, obj.Name()) {
			continue
		}
		writes := s.creation(s.Began, s.targets[kindOf(obj)], obj)
		if obj.String("metadata", "deletionTimestamp") != "" {
			writes = append(writes, Write{Method: http.MethodDelete, Path: s.PathOf(obj), As: "others", mayFail: true})
		}
		for _, x := range writes {
			w.add(x)
		}
	}
	w.script.WriteString("\n# The writes of the client and of other clients.\n")
	now := s.Began
	for _, x := range s.Writes {
		if d := x.At.Sub(now).Truncate(time.Millisecond); d > 0 {
			fmt.Fprintf(&w.script, "tick %v\n", d)
			now = now.Add(d)
		}
		w.add(x)
	}
	return w.script.String() + "\n" + w.files.String(), w.err
}

// scenarioWriter writes a scenario.
type scenarioWriter struct {
	script, files strings.Builder
	n             int // number of files
	err           error
}

// add adds a write.
func (w *scenarioWriter) add(x Write) {
	if x.mayFail {
		w.script.WriteString("? ")
	}
	fmt.Fprintf(&w.script, "request %s '%s'", x.Method, strings.ReplaceAll(x.Path, "'", "%27"))
	if x.ContentType != "" {
		fmt.Fprintf(&w.script, " -H 'Content-Type: %s'", x.ContentType)
	}
	if x.Body != nil {
		w.n++
		text, name := append(object.JSON(x.Body), '\n'), fmt.Sprintf("%d.json", w.n)
		if x.ContentType == "" {
			if text, w.err = codec.JSONToYAML(text); w.err != nil {
				return
			}
			name = fmt.Sprintf("%d.yaml", w.n)
		}
		fmt.Fprintf(&w.script, " -f %s", name)
		fmt.Fprintf(&w.files, "-- %s --\n%s", name, text)
	}
	fmt.Fprintf(&w.script, " --as %s\n", x.As)
}

// standard are the namespaces that every scenario has.
var standard = []string{"default", "kube-node-lease", "kube-public", "kube-system"}
