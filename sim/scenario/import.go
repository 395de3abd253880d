package scenario

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/cel"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
)

// importCommands begin with the objects of another cluster.
var importCommands = []Command{
	{Name: "import", Usage: "FILE [NODE …]",
		Help:    "begin with the objects of a real cluster as they are, and run the kubelets of its nodes that are named; must come first",
		Example: "import cluster.json node-1 node-2", Group: Worldly, Args: []Arg{Word, Word}, needs: 1, more: true, run: (*World).importFile},
}

// foreign contains the objects of another cluster with which a World begins.
type foreign struct {
	objects [][]byte // as JSON
	names   []string // of the objects, for messages
	newest  time.Time
}

// importFile recreates the cluster with the objects in a file, YAML or JSON. Lines at the beginning of the file that start with #
// are added to the transcript: they contain the source of the objects, and the parts of the source that are not in the file.
func (w *World) importFile(op *Op) error {
	if !cel.Supported { // a constant: that build does not contain the rest
		return errors.New("import needs CEL, because the objects of a cluster may contain it")
	}
	if w.used {
		return fmt.Errorf("%s configures the world: put it before all other lines", op.Name)
	}
	name := op.Args[0]
	text, ok := w.files[name]
	if !ok {
		return unknown("file", name, object.SortedKeys(w.files), "; a scenario has files after lines such as -- "+name+" --")
	}
	var notes []string
	for strings.HasPrefix(text, "#") {
		var note string
		note, text, _ = strings.Cut(text, "\n")
		notes = append(notes, strings.TrimSpace(note[1:]))
	}
	list, err := foreignObjects([]byte(text))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	before, had := w.options, w.foreign
	w.options.NodeNames, w.foreign = op.Args[1:], foreignOf(list)
	if err := w.boot(); err != nil {
		w.options, w.foreign = before, had
		_ = w.boot() // cannot fail: the same options have worked before
		return err
	}
	for _, note := range notes {
		w.say("%s", note)
	}
	w.sayImported()
	return nil
}

// foreignObjects parses objects. A List in JSON, which may be large, is not parsed as YAML.
func foreignObjects(text []byte) ([]object.Object, error) {
	if list, err := object.Parse(text); err == nil && list.Kind() == "List" {
		items, _ := list["items"].([]any)
		if objects := list.Objects("items"); len(objects) == len(items) {
			return objects, nil
		}
	}
	return codec.Manifest(text)
}

func foreignOf(list []object.Object) *foreign {
	f := &foreign{}
	for _, obj := range list {
		f.objects = append(f.objects, object.JSON(map[string]any(obj)))
		f.names = append(f.names, strings.TrimSpace(obj.Kind()+" "+strings.TrimPrefix(obj.Namespace()+"/"+obj.Name(), "/")))
		if at := obj.Newest(); at.After(f.newest) {
			f.newest = at
		}
	}
	return f
}

// sayImported adds the result of the import to the transcript.
func (w *World) sayImported() {
	done := w.imported
	w.say("imported %d objects", done.Objects)
	if len(done.Namespaces) > 0 {
		w.say("created the missing namespaces %s", strings.Join(done.Namespaces, ", "))
	}
	for _, r := range done.Refused {
		w.say("not imported: %s: %v", w.foreign.names[r.Index], r.Reason)
	}
}
