package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// pager reads a list page by page, one each step, as client-go's ListPager does: when the rest of the pages is gone (410)
// it reads everything at once.
type pager struct {
	name     string
	client   *client
	resource string
	op       Op
	def      *resource.Definition

	token string
	items map[string]object.Object
	rv    string
	doing string
	done  bool
	full  bool // the pages are gone: everything at once
	call  *call
}

func newPager(w *World, op *Op) (actor, error) {
	if !op.has("limit") {
		return nil, fmt.Errorf("a pager reads pages: --limit N says how long they are")
	}
	p := &pager{name: op.Args[0], client: w.client(op.Args[0]), resource: op.Args[1], op: Op{Flags: slices.Clone(op.Flags)}}
	if !op.has("namespace") {
		p.op.Flags = append(p.op.Flags, FlagValue{Name: "all-namespaces"})
	}
	return p, nil
}

func (p *pager) able(w *World) error {
	_, err := w.resolve(p.resource, max(p.client.replica, 1))
	return err
}

func (p *pager) start(w *World) {
	d, err := w.resolve(p.resource, max(p.client.replica, 1))
	if err != nil {
		return
	}
	p.def, p.items, p.token, p.rv, p.done, p.full = d, map[string]object.Object{}, "", "", false, false
	p.doing = "has not begun"
}

func (p *pager) crash(*World) {
	if p.call != nil {
		p.call.gone = true
	}
	p.call, p.items, p.done, p.doing = nil, map[string]object.Object{}, true, "crashed"
}

func (p *pager) called() string { return p.name }
func (p *pager) asleep() bool   { return false }
func (p *pager) idle() bool     { return true }

func (p *pager) state() ActorState {
	return ActorState{Name: p.name, Kind: "pager", Resource: p.resource, State: p.doing,
		Synced: p.done && p.doing != "crashed", RV: p.rv, Keys: object.SortedKeys(p.items)}
}

func (p *pager) objects(d *resource.Definition, namespace, name string) ([]object.Object, error) {
	if p.def == nil || d.Storage != p.def.Storage {
		return nil, noCache(p.name, d)
	}
	return (&reflector{def: p.def, store: p.items}).find(namespace, name), nil
}

func noCache(name string, d *resource.Definition) error {
	return fmt.Errorf("%s has no cache of %s", name, d.Resourced())
}

// step asks for the next page.
func (p *pager) step(w *World) bool {
	if p.done || p.call != nil {
		return false
	}
	b := &builder{w: w, op: &p.op, client: p.client, replica: max(p.client.replica, 1)}
	q, _ := b.query() // only --continue can be wrong, which it does not take
	if p.full {
		q.Del("limit")
	}
	if p.token != "" {
		q.Set("continue", p.token)
	}
	c := b.add("GET", b.location(p.def, "", ""), q, "", nil)
	c.def = p.def
	c.done = func(c *call) { p.page(w, c) }
	p.call = c
	w.send(c)
	return true
}

func (p *pager) page(w *World, c *call) {
	p.call = nil
	switch {
	case gone(c.body) && p.token != "":
		p.token, p.items, p.full = "", map[string]object.Object{}, true
		p.doing = "lost its pages and reads everything at once"
		w.say("%s %s", p.name, p.doing)
		return
	case c.answer.Code != 200 || c.body == nil:
		p.doing, p.done = fmt.Sprintf("failed with %d", c.answer.Code), true
		return
	}
	for _, obj := range c.body.Objects("items") {
		p.items[key(obj.Namespace(), obj.Name())] = obj
	}
	p.rv = c.body.ResourceVersion()
	p.token = c.body.String("metadata", "continue")
	p.doing, p.done = fmt.Sprintf("has read %d", len(p.items)), p.token == ""
	if p.done {
		w.say("%s has read all: %s", p.name, strings.TrimSpace(keysLine(p.items)))
	}
}
