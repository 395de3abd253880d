package engine

import (
	"strings"

	"github.com/kubesim/kubesim/sim/kubectl"
	"github.com/kubesim/kubesim/sim/kubectl/shell"
	"github.com/kubesim/kubesim/sim/object"
)

// completePrompt is the view of what could stand at the end of the line of a shell. prefix is as far as a shell goes by itself.
func (e *Engine) completePrompt(line string) any {
	bare := strings.TrimLeft(line, "!? \t")
	from, found := kubectl.Complete(bare, source{e})
	items := each(found, func(i kubectl.Item) itemView { return itemView{i.Text, i.Detail} })
	return fields{"from": from + len(line) - len(bare), "to": len(line), "items": items, "prefix": kubectl.CommonPrefix(found)}
}

// source is what completion knows of the world.
type source struct{ e *Engine }

func (s source) Resources() []kubectl.Item { return asItems(s.e.resourceItems()) }

func (s source) Objects(resource, namespace string) []kubectl.Item {
	d, err := s.e.run.world.Resolve(resource)
	if err != nil {
		return nil
	}
	if !d.Namespaced {
		namespace = ""
	}
	found, err := s.e.run.world.Objects(resource, namespace, "", 0)
	if err != nil {
		return nil
	}
	return each(found, func(obj object.Object) kubectl.Item { return kubectl.Item{Text: obj.Name(), Detail: obj.Kind()} })
}

func (s source) Files() []kubectl.Item {
	return each(object.SortedKeys(s.e.run.world.Files()), func(name string) kubectl.Item { return kubectl.Item{Text: name, Detail: "file"} })
}

func asItems(list []itemView) []kubectl.Item {
	return each(list, func(i itemView) kubectl.Item { return kubectl.Item{Text: i.Text, Detail: i.Detail} })
}

// paste is the view of the operations that a pasted text is: lines, and the files of its here-documents.
func (e *Engine) paste(q *request) (any, error) {
	type op struct {
		Line  string            `json:"line"`
		Files map[string]string `json:"files,omitempty"`
	}
	ops := each(shell.Paste(q.Line), func(t shell.Typed) op { return op{t.Line, t.Files} })
	return fields{"ops": ops}, nil
}
