package engine

import (
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/kubectl"
	"github.com/kubesim/kubesim/sim/kubectl/shell"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/scenario"
)

// itemView is one completion of a line.
type itemView struct {
	Text   string `json:"text"`
	Detail string `json:"detail"`
}

// complete returns the view of the completions at the cursor.
//
//	get conf|             configmaps
//	get configmaps |      a b (names of objects), and flags
//	watch pods --rv-match=|    Exact, NotOlderThan
func (e *Engine) complete(q *request) (any, error) {
	line := q.Line
	if q.Cursor != nil && *q.Cursor >= 0 && *q.Cursor < len(line) {
		line = line[:*q.Cursor]
	}
	if atPrompt(line) {
		return e.completePrompt(line), nil
	}
	from := strings.LastIndexAny(line, " \t") + 1
	words, start := strings.Fields(line[:from]), line[from:]
	items := slices.DeleteFunc(e.items(words, start), func(i itemView) bool { return !strings.HasPrefix(i.Text, start) })
	return fields{"from": from, "to": len(line), "items": append([]itemView{}, items...)}, nil
}

// items returns the completions after words if the current word begins with start.
func (e *Engine) items(words []string, start string) []itemView {
	if len(words) > 0 && words[0] == "!" {
		words = words[1:]
	}
	if len(words) == 0 {
		return each(scenario.Commands(), func(c scenario.Command) itemView { return itemView{c.Name, c.Help} })
	}
	c := scenario.FindCommand(words[0])
	if c == nil {
		return nil
	}
	if name, _, ok := strings.Cut(start, "="); ok && strings.HasPrefix(start, "-") {
		return valueItems(name)
	}
	if strings.HasPrefix(start, "-") {
		return flagItems(c)
	}
	if items := e.flagValue(words[len(words)-1], c); items != nil {
		return items
	}
	return append(e.argumentItems(c, start, words), flagItems(c)...)
}

func flagItems(c *scenario.Command) []itemView {
	var out []itemView
	for _, f := range scenario.Flags() {
		if !slices.Contains(c.Flags, f.Name) {
			continue
		}
		text := "--" + f.Name
		if f.Value != "" {
			text += "="
		}
		out = append(out, itemView{text, f.Help})
	}
	return out
}

// valueItems returns the completions of "--flag=".
func valueItems(flag string) []itemView {
	var out []itemView
	for _, f := range scenario.Flags() {
		if "--"+f.Name == flag {
			for _, v := range f.Values {
				out = append(out, itemView{flag + "=" + v, f.Help})
			}
		}
	}
	return out
}

// flagValue returns the possible values of a flag whose value is the next word, or nil if there is no such flag.
func (e *Engine) flagValue(word string, c *scenario.Command) []itemView {
	for _, f := range scenario.Flags() {
		if f.Value == "" || word != "-"+f.Short && word != "--"+f.Name || !slices.Contains(c.Flags, f.Name) {
			continue
		}
		out := plainItems(f.Values, f.Help)
		switch f.Name {
		case "namespace":
			out = append(out, plainItems(e.namespaces(), "namespace")...)
		case "as":
			out = append(out, e.clientItems()...)
		case "filename":
			out = append(out, plainItems(object.SortedKeys(e.run.world.Files()), "file")...)
		case "continue":
			out = append(out, itemView{"last", "the token of the client's last page"})
		}
		return out
	}
	return nil
}

func plainItems(names []string, detail string) []itemView {
	return each(names, func(name string) itemView { return itemView{name, detail} })
}

// arguments returns the number of words that are neither flags nor values of flags, and the first such word.
func arguments(words []string) (n int, first string) {
	for i := 0; i < len(words); i++ {
		w := words[i]
		if !strings.HasPrefix(w, "-") {
			if n++; n == 1 {
				first = w
			}
			continue
		}
		if slices.ContainsFunc(scenario.Flags(), func(f scenario.Flag) bool {
			return f.Value != "" && (w == "-"+f.Short || w == "--"+f.Name)
		}) {
			i++
		}
	}
	return n, first
}

// argumentItems returns the possible next arguments of a command.
func (e *Engine) argumentItems(c *scenario.Command, start string, words []string) []itemView {
	args, first := arguments(words[1:])
	var out []itemView
	switch sources := itemsOf[c.Arg(args)]; {
	case c.Arg(args) == scenario.ObjectName:
		return e.nameItems(first, start, words)
	case sources == nil && args == 0:
		return each(c.Words, func(w scenario.Choice) itemView { return itemView{w.Text, w.Help} })
	default:
		for _, items := range sources {
			out = append(out, items(e)...)
		}
	}
	return out
}

// itemsOf contains the sources of completions for arguments that do not depend on preceding words.
var itemsOf = map[scenario.Arg][]func(*Engine) []itemView{
	scenario.Resource:            {(*Engine).resourceItems},
	scenario.Client:              {(*Engine).clientItems},
	scenario.Actor:               {(*Engine).actorItems},
	scenario.Controller:          {(*Engine).controllerItems},
	scenario.Watch:               {(*Engine).watchItems},
	scenario.Replica:             {(*Engine).replicaItems},
	scenario.ActorOrController:   {(*Engine).actorItems, (*Engine).controllerItems},
	scenario.WatchOrController:   {(*Engine).watchItems, (*Engine).controllerItems},
	scenario.ReplicaOrController: {(*Engine).replicaItems, (*Engine).controllerItems},
	scenario.WatchOrReplica:      {(*Engine).watchItems, (*Engine).replicaItems},
	scenario.Path:                {(*Engine).pathItems},
	scenario.Method: {func(*Engine) []itemView {
		return plainItems([]string{"GET", "POST", "PUT", "PATCH", "DELETE"}, "method")
	}},
}

func (e *Engine) clientItems() []itemView {
	return each(e.run.world.Clients(), func(c scenario.ClientState) itemView { return itemView{c.Name, "client"} })
}

func (e *Engine) actorItems() []itemView {
	return each(e.run.world.Actors(), func(s scenario.ActorState) itemView { return itemView{s.Name, s.Kind} })
}

func (e *Engine) controllerItems() []itemView {
	return plainItems(e.run.world.Controllers(), "controller")
}

func (e *Engine) watchItems() []itemView {
	var out []itemView
	for _, s := range e.run.world.Watches() {
		if s.Open {
			out = append(out, itemView{s.Name, "watch of " + s.Client})
		}
	}
	return out
}

func (e *Engine) replicaItems() []itemView {
	var out []itemView
	for i := 1; i <= e.run.world.Cluster().Replicas(); i++ {
		out = append(out, itemView{formatRev(uint64(i)), "API server"})
	}
	return out
}

func (e *Engine) resourceItems() []itemView {
	var out []itemView
	seen := map[string]bool{}
	for _, d := range e.server(1).Table.All() {
		if name := d.GroupResource().String(); !seen[name] {
			seen[name] = true
			out = append(out, itemView{name, d.Kind + " " + d.GV()})
		}
	}
	return out
}

// namesMost is the maximum number of names that are offered.
const namesMost = 50

// nameItems returns the names of the resource's objects that begin with start, in the namespace that words specify.
func (e *Engine) nameItems(resource, start string, words []string) []itemView {
	d, err := e.run.world.Resolve(resource)
	if err != nil {
		return nil
	}
	namespace := ""
	if d.Namespaced {
		namespace = "default"
		for i, w := range words[:len(words)-1] {
			if w == "-n" || w == "--namespace" {
				namespace = words[i+1]
			}
		}
	}
	found, _, err := e.run.world.FirstObjects(resource, namespace, start, namesMost, 0)
	if err != nil {
		return nil
	}
	return each(found, func(obj object.Object) itemView {
		return itemView{obj.Name(), obj.Kind() + " at " + obj.ResourceVersion()}
	})
}

// pathItems returns the API paths of all resources.
func (e *Engine) pathItems() []itemView {
	var out []itemView
	for _, d := range e.server(1).Table.All() {
		if d.Namespaced {
			out = append(out, itemView{d.Root() + "/namespaces/default/" + d.Resource, d.Kind})
		}
		out = append(out, itemView{d.Root() + "/" + d.Resource, d.Kind})
	}
	return append(out, itemView{"/apis", "groups"}, itemView{"/openapi/v3", "schemas"}, itemView{"/version", "version"})
}

// commandView is a command of the scenario language.
type commandView struct {
	Name    string     `json:"name"`
	Usage   string     `json:"usage"`
	Text    string     `json:"text"`
	Example string     `json:"example"`
	Group   string     `json:"group"`
	Flags   []itemView `json:"flags"`
}

// help returns the view of all commands, or of one command.
func (e *Engine) help(q *request) (any, error) {
	list := []commandView{}
	for _, c := range scenario.Commands() {
		if q.Command == "" || q.Command == c.Name {
			list = append(list, commandView{c.Name, strings.TrimSpace(c.Name + " " + c.Usage), c.Help, c.Example, string(c.Group),
				append([]itemView{}, flagItems(&c)...)})
		}
	}
	if len(list) == 0 {
		return nil, failed("there is no command %q", q.Command)
	}
	return fields{"commands": list}, nil
}

// atPrompt reports whether line is a shell command whose first word is complete.
func atPrompt(line string) bool {
	first, _, more := strings.Cut(strings.TrimLeft(line, "!? \t"), " ")
	c := scenario.FindCommand(first)
	return more && c != nil && c.Group == scenario.Prompt
}

// completePrompt returns the view of the completions at the end of a shell command. prefix is what a shell would insert
// immediately.
func (e *Engine) completePrompt(line string) any {
	bare := strings.TrimLeft(line, "!? \t")
	from, found := kubectl.Complete(bare, source{e})
	items := each(found, func(i kubectl.Item) itemView { return itemView{i.Text, i.Detail} })
	return fields{"from": from + len(line) - len(bare), "to": len(line), "items": items, "prefix": kubectl.CommonPrefix(found)}
}

// source implements kubectl.Source with the objects and clients of an Engine.
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

// paste returns the view of the operations in pasted text: its lines, with the files of their here-documents.
func (e *Engine) paste(q *request) (any, error) {
	type op struct {
		Line  string            `json:"line"`
		Files map[string]string `json:"files,omitempty"`
	}
	ops := each(shell.Paste(q.Line), func(t shell.Typed) op { return op{t.Line, t.Files} })
	return fields{"ops": ops}, nil
}
